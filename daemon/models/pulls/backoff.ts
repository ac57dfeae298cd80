import { GatewayError } from '../../contract/errors.ts';
import { RefusedHop } from '../hub/hop.ts';
import { hubError } from '../hub/hub-errors.ts';
import { HubStatus } from '../hub/hub-status.ts';
import { isFull } from './disk-space.ts';
import { MismatchedResponse } from './transfer.ts';

const MAX_DELAY_MS = 60_000;
/**
 * Maximum consecutive failures without new data. With the delays in between this is about a quarter of an
 * hour.
 */
export const MAX_FAILURES = 18;
/** Maximum consecutive responses that do not fit the file. */
const MAX_MISMATCHES = 3;
/** Maximum consecutive refusals without a reason. A storage gives a new link each time. */
const MAX_DENIALS = 4;

export interface Failure {
  readonly error: unknown;
  /** Consecutive failures without new data, including this one. */
  readonly failures: number;
  /** Consecutive responses that were no part of the file, including this one. */
  readonly mismatches: number;
}

const FOREVER: ReadonlySet<string> = new Set([
  'ERR_PROXY_AUTH',
  'ERR_UNREACHABLE_ADDRESS',
  'ERR_INVALID_ARG_VALUE',
  'UND_ERR_INVALID_ARG',
]);
/** Error codes of a disk. A socket has others, and a firewall refuses only to connect. */
const DISK_CODES: ReadonlySet<string> = new Set([
  'EACCES',
  'EEXIST',
  'EIO',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'ENOTEMPTY',
  'EPERM',
  'EROFS',
  'ESTALE',
]);

function diskCode(error: unknown): string | null {
  const { code, syscall } = error as { code?: string; syscall?: string };
  return code !== undefined && DISK_CODES.has(code) && syscall !== 'connect' ? code : null;
}

/** Returns the milliseconds until the next try: doubled each time, or what the hub requests. */
export function delayMs(failures: number, retryAfterS: number | null, baseMs: number): number {
  const own = Math.min(MAX_DELAY_MS, baseMs * 2 ** Math.min(20, failures - 1));
  return Math.max(own, (retryAfterS ?? 0) * 1000);
}

/** Returns the error with which a transfer ends. Null when it is to be retried. Pure. */
export function permanentError({ error, failures, mismatches: wrong }: Failure): GatewayError | null {
  if (error instanceof GatewayError) return error;
  if (isFull(error)) return new GatewayError('pull.no_space', { cause: error });
  const broken = diskCode(error);
  if (broken !== null)
    return new GatewayError('pull.write_failed', { details: { reason: broken }, cause: error });
  if (error instanceof RefusedHop || FOREVER.has((error as { code?: string }).code ?? ''))
    return hubError(error);
  if (error instanceof MismatchedResponse) return wrong >= MAX_MISMATCHES ? mismatchError(error) : null;
  if (error instanceof HubStatus && error.status < 500 && ![408, 425, 429].includes(error.status))
    return error.status === 403 && error.code === null && failures < MAX_DENIALS ? null : hubError(error);
  return failures >= MAX_FAILURES ? hubError(error) : null;
}

/** Returns the error for responses that are no part of the file. */
function mismatchError({ mismatch, message }: MismatchedResponse): GatewayError {
  if (mismatch === 'page') return new GatewayError('pull.web_page');
  return new GatewayError('pull.checksum_mismatch', {
    message: `The download differs from what the hub announced: ${message}.`,
  });
}

/** Returns why a try failed, in one sentence. */
export const describeFailure = (error: unknown): string =>
  error instanceof MismatchedResponse ? mismatchError(error).message : hubError(error).message;
