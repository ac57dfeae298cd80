const HIDDEN = '[hidden]';
/** A value shorter than this is not hidden by value: it would blank ordinary words. */
const LEAST_SECRET = 6;
/** A signed session cookie: the base64url text of a JSON object, a dot, the base64url text of 32 bytes. */
const SESSION = /eyJ[\w-]{16,400}\.[\w-]{43}/g;
const KEY_PARAMETER = /([?&]api_key=)[^&\s"#]+/gi;

/** What JSON writes in another way than it stands in a text: most secrets hold nothing of it. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * In a line of JSON: a name that says that its value is a secret, at any depth, with a text or a list of texts behind it.
 * The line is read as it was written, so that fields, bindings, errors and what stands inside them are all alike.
 */
const NAMED =
  /("(?:[\w-]*authorization|(?:set-)?cookie|[\w-]*api[-_]?key|[\w-]*(?:[-_]key|secret|token|password|passwd))":)("(?:[^"\\]|\\.)*"|\["(?:[^"\\]|\\.)*"(?:,"(?:[^"\\]|\\.)*")*\])/gi;

/** A line of JSON without the values whose names say that they are secrets. */
export const hideNamed = (line: string): string => line.replace(NAMED, `$1"${HIDDEN}"`);

/**
 * `text` without any of `secrets` (as they are, and as JSON writes them), session cookies and `api_key` parameters. A
 * secret that holds another one stands before it in the list.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) {
    if (secret.length < LEAST_SECRET) continue;
    if (out.includes(secret)) out = out.replaceAll(secret, HIDDEN);
    if (!ESCAPED.test(secret)) continue;
    const escaped = JSON.stringify(secret).slice(1, -1);
    if (out.includes(escaped)) out = out.replaceAll(escaped, HIDDEN);
  }
  // Nearly every text holds neither, and looking for that costs less than a replacement that replaces nothing.
  if (out.includes('=')) out = out.replace(KEY_PARAMETER, `$1${HIDDEN}`);
  return out.includes('eyJ') ? out.replace(SESSION, HIDDEN) : out;
}

/** The same for every text inside a JSON value; its shape and its names stay. */
export function hideSecretsIn<T>(value: T, secrets: readonly string[]): T {
  if (typeof value === 'string') return hideSecrets(value, secrets) as T;
  if (Array.isArray(value)) return value.map((each) => hideSecretsIn(each, secrets)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, hideSecretsIn(each, secrets)]);
  return Object.fromEntries(entries) as T;
}
