import { HOPS_HEADER } from '../../upstreams/hops.ts';

/** Replaces a credential in an error. */
const HIDDEN = Buffer.from('[hidden]');
/** A shorter value is not a credential and could occur in any text. */
const MIN_SECRET_BYTES = 6;

/**
 * Returns the secret parts of the headers that the gateway adds for an engine or upstream: values without the
 * scheme.
 */
export function credentialsOf(headers: Readonly<Record<string, string>>): Buffer[] {
  return Object.entries(headers)
    .filter(([name]) => name !== HOPS_HEADER)
    .map(([, value]) => Buffer.from(value.replace(/^\S+\s+/, ''), 'latin1'))
    .filter((secret) => secret.length >= MIN_SECRET_BYTES);
}

/** Returns `bytes` unchanged unless they contain one of `secrets`, which is then replaced everywhere. */
export function redactCredentials(bytes: Buffer, secrets: readonly Buffer[]): Buffer {
  // A secret may contain a shorter one. Replacing the shorter one first would leave the rest of the longer
  // one.
  const longestFirst = secrets.toSorted((one, other) => other.length - one.length);
  return longestFirst.reduce(
    (rest, secret) => (rest.includes(secret) ? redactSecret(rest, secret) : rest),
    bytes,
  );
}

function redactSecret(bytes: Buffer, secret: Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, from)) {
    parts.push(bytes.subarray(from, at), HIDDEN);
    from = at + secret.length;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}
