import { createHmac, randomBytes } from 'node:crypto';
import { GatewayError } from '../contract/errors.ts';

/** Of this process: the digest of a file that may hold keys is of no use to guess them, and after a restart every revision is old. */
const KEY = randomBytes(32);

/** A short word for the content of a file; null: there is no file. */
export function revisionOf(bytes: Uint8Array | null): string {
  const digest = createHmac('sha256', KEY).update(bytes === null ? 'absent' : 'present');
  return digest
    .update(bytes ?? '')
    .digest('base64url')
    .slice(0, 22);
}

/** A look at the content (null: none) that is about to be replaced or removed; it throws to refuse that. */
export type ChangeGuard = (bytes: Uint8Array | null) => void;

/** Lets every change through. */
export const unguarded: ChangeGuard = () => {};

/**
 * The guard that an `If-Match` header asks for (RFC 9110, section 13.1.1): one of the quoted revisions, or `*` for any content.
 * It throws GatewayError `config.stale`. Without the header every change goes through.
 */
export function ifMatchGuard(header: string | undefined): ChangeGuard {
  if (header === undefined) return unguarded;
  const wanted = new Set(header.split(',').map((one) => one.trim()));
  return (bytes) => {
    if (wanted.has('*') ? bytes !== null : wanted.has(`"${revisionOf(bytes)}"`)) return;
    throw new GatewayError('config.stale');
  };
}
