import { memoize } from '../async/memoize.ts';
import { ELLIPSIS } from './truncate.ts';

const REDACTED = '[hidden]';
/** Shorter values are not redacted by value, because that would remove ordinary words. */
const MIN_SECRET_LENGTH = 6;
/**
 * Minimum length of the start of a secret that is redacted before an ellipsis. Fewer characters reveal
 * nothing.
 */
const MIN_PREFIX_LENGTH = 4;
/** A signed session cookie: the base64url text of a JSON object, a dot, the base64url text of 32 bytes. */
const SESSION = /eyJ[\w-]{16,400}\.[\w-]{43}/g;
const KEY_PARAMETER = /([?&]api_key=)[^&\s"#]+/gi;

/** Matches characters that JSON escapes. Most secrets contain none. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * Matches a key in a line of JSON whose name marks a secret, at any depth, with a string or a list of strings
 * as its value. It works on the written line, so that fields, bindings, errors and nested objects are all
 * covered.
 */
const NAMED_SECRET =
  /("(?:[\w-]*authorization|(?:set-)?cookie|[\w-]*api[-_]?key|[\w-]*(?:[-_]key|secret|token|password|passwd))":)("(?:[^"\\]|\\.)*"|\["(?:[^"\\]|\\.)*"(?:,"(?:[^"\\]|\\.)*")*\])/gi;

/** Returns a line of JSON without the values whose keys mark them as secrets. */
export const redactNamed = (line: string): string => line.replace(NAMED_SECRET, `$1"${REDACTED}"`);

/**
 * Returns `text` without any of `secrets` (as they are, and as JSON escapes them), session cookies and
 * `api_key` parameters. A secret that contains another one must precede it in the list. Before an ellipsis
 * (`truncate`), the start of a secret is redacted like the whole.
 */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    out = redactSecret(out, secret);
    if (ESCAPED.test(secret)) out = redactSecret(out, JSON.stringify(secret).slice(1, -1));
  }
  // Nearly every text contains neither, and this check is cheaper than a replacement without a match.
  if (out.includes('=')) out = out.replace(KEY_PARAMETER, `$1${REDACTED}`);
  return out.includes('eyJ') ? out.replace(SESSION, REDACTED) : out;
}

/** {@link redactSecrets} with a cache, for repeated texts such as model names. Calls `secrets` at each use. */
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

/**
 * Returns the number of characters at the end of `text` that are the start of `secret`, or 0 if they are too
 * few to reveal anything.
 */
function secretPrefixLength(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= MIN_PREFIX_LENGTH; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

/** Redacts every string inside a JSON value. Structure and keys stay unchanged. */
export function redactSecretsIn<T>(value: T, secrets: readonly string[]): T {
  if (typeof value === 'string') return redactSecrets(value, secrets) as T;
  if (Array.isArray(value)) return value.map((each) => redactSecretsIn(each, secrets)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, redactSecretsIn(each, secrets)]);
  return Object.fromEntries(entries) as T;
}
