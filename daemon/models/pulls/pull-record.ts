import { ERRORS, isErrorCode } from '../../contract/errors.ts';
import type { PullRecord } from '../../contract/pulls.ts';
import type { PullRow } from '../../store/pulls.ts';

/** State that only a running job has. */
export interface PullRunState {
  readonly files: number;
  /** Bytes per second. Null while nothing arrives. */
  readonly speed: number | null;
  readonly retries: number;
  /** Why the last try failed. Null without a failure since the last byte. */
  readonly retryReason: string | null;
}

const adviceOf = (code: string): string | null => (isErrorCode(code) ? ERRORS[code].advice : null);

/** Returns a download in the format of the API. */
export function pullRecord(
  row: Readonly<PullRow>,
  { files, speed, retries, retryReason }: PullRunState,
): PullRecord {
  const { id, repo, revision, file, state, bytes, code, error, model, licence, created, updated } = row;
  const total = row.total ?? 0;
  return {
    id,
    repo,
    revision: revision ?? '',
    file,
    files,
    state,
    bytes,
    total,
    speed,
    eta_s: speed === null ? null : Math.ceil((total - bytes) / speed),
    retries,
    retry_reason: retryReason,
    error: code === null ? null : { code, message: error ?? '', advice: adviceOf(code) },
    model,
    licence,
    created,
    updated,
  };
}
