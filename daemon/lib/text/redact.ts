import { memoize } from '../async/memoize.ts';
import { ELLIPSIS } from './truncate.ts';

const REDACTED = '[hidden]';
/** A value shorter than this is not hidden by value: it would blank ordinary words. */
const MIN_SECRET_LENGTH = 6;
/** Characters before a cut that are hidden when a secret begins with them; fewer tell nothing of it. */
const MIN_PREFIX_LENGTH = 4;
/** A signed session cookie: the base64url text of a JSON object, a dot, the base64url text of 32 bytes. */
const SESSION = /eyJ[\w-]{16,400}\.[\w-]{43}/g;
const KEY_PARAMETER = /([?&]api_key=)[^&\s"#]+/gi;

/** What JSON writes in another way than it stands in a text: most secrets hold nothing of it. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * In a line of JSON: a name that says that its value is a secret, at any depth, with a text or a list of texts behind it.
 * The line is read as it was written, so that fields, bindings, errors and what stands inside them are all alike.
 */
const NAMED_SECRET =
  /("(?:[\w-]*authorization|(?:set-)?cookie|[\w-]*api[-_]?key|[\w-]*(?:[-_]key|secret|token|password|passwd))":)("(?:[^"\\]|\\.)*"|\["(?:[^"\\]|\\.)*"(?:,"(?:[^"\\]|\\.)*")*\])/gi;

/** A line of JSON without the values whose names say that they are secrets. */
export const redactNamed = (line: string): string => line.replace(NAMED_SECRET, `$1"${REDACTED}"`);

/**
 * `text` without any of `secrets` (as they are, and as JSON writes them), session cookies and `api_key` parameters. A
 * secret that holds another one stands before it in the list. Where a text was cut (`cutTo`), the beginning of a secret is
 * hidden like the whole of it.
 */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    out = redactSecret(out, secret);
    if (ESCAPED.test(secret)) out = redactSecret(out, JSON.stringify(secret).slice(1, -1));
  }
  // Nearly every text holds neither, and looking for that costs less than a replacement that replaces nothing.
  if (out.includes('=')) out = out.replace(KEY_PARAMETER, `$1${REDACTED}`);
  return out.includes('eyJ') ? out.replace(SESSION, REDACTED) : out;
}

/** {@link redactSecrets} for texts that come again and again, such as names of models; `secrets` is asked at each use. */
export function createRedactor(secrets: () => readonly string[]): (text: string) => string {
  let known: readonly string[] = [];
  let redact = memoize((text) => redactSecrets(text, known));
  return (text) => {
    const now = secrets();
    if (now !== known) {
      known = now;
      redact = memoize((each) => redactSecrets(each, now));
    }
    return redact(text);
  };
}

function redactSecret(text: string, secret: string): string {
  const out = text.includes(secret) ? text.replaceAll(secret, REDACTED) : text;
  return out.includes(ELLIPSIS) ? redactPrefix(out, secret) : out;
}

function redactPrefix(text: string, secret: string): string {
  const parts = text.split(ELLIPSIS);
  const last = parts.pop() as string;
  const clean = parts.map((part) => {
    const length = secretPrefixLength(part, secret);
    return length === 0 ? part : part.slice(0, -length) + REDACTED;
  });
  return [...clean, last].join(ELLIPSIS);
}

/** How many characters at the end of `text` are the beginning of `secret`; 0 for too few to tell anything. */
function secretPrefixLength(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= MIN_PREFIX_LENGTH; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

/** The same for every text inside a JSON value; its shape and its names stay. */
export function redactSecretsIn<T>(value: T, secrets: readonly string[]): T {
  if (typeof value === 'string') return redactSecrets(value, secrets) as T;
  if (Array.isArray(value)) return value.map((each) => redactSecretsIn(each, secrets)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, redactSecretsIn(each, secrets)]);
  return Object.fromEntries(entries) as T;
}
