import { createHmac, randomBytes } from 'node:crypto';
import { GatewayError } from '../contract/errors.ts';

/**
 * Random per process: the digest of a file with keys must not help to guess them. After a restart every
 * revision is stale.
 */
const KEY = randomBytes(32);

/** Returns a short digest of the content of a file. Null: there is no file. */
export function revisionOf(bytes: Uint8Array | null): string {
  const digest = createHmac('sha256', KEY).update(bytes === null ? 'absent' : 'present');
  return digest
    .update(bytes ?? '')
    .digest('base64url')
    .slice(0, 22);
}

/** Checks the content (null: no file) that is about to be replaced or removed. Throws to refuse the change. */
export type ChangeGuard = (bytes: Uint8Array | null) => void;

/** Accepts every change. */
export const unguarded: ChangeGuard = () => {};

/**
 * Returns the guard for an `If-Match` header (RFC 9110, section 13.1.1): one of the quoted revisions, or `*`
 * for any content. The guard throws GatewayError `config.stale`. Without the header it accepts every change.
 */
export function ifMatchGuard(header: string | undefined): ChangeGuard {
  if (header === undefined) return unguarded;
  const wanted = new Set(header.split(',').map((one) => one.trim()));
  return (bytes) => {
    if (wanted.has('*') ? bytes !== null : wanted.has(`"${revisionOf(bytes)}"`)) return;
    throw new GatewayError('config.stale');
  };
}
