import { ADDRESS_WORDS, appName } from '../../../daemon/contract/caller-info.ts';
import type { RequestRecord } from '../../../daemon/contract/system.ts';

/** The caller of a request: `Codex`, `curl from your network`. Null when nothing is known. */
export function callerWords(request: Pick<RequestRecord, 'app' | 'user_agent' | 'address'>): string | null {
  const name = appName(request);
  const { address } = request;
  if (address === null || address === 'loopback') return name;
  return name === null ? `from ${ADDRESS_WORDS[address]}` : `${name} from ${ADDRESS_WORDS[address]}`;
}

/** Adds requests without access to the finished ones, both newest first, by their start. */
export function withRefused(
  finished: readonly RequestRecord[],
  refused: readonly RequestRecord[],
): RequestRecord[] {
  const known = new Set(finished.map(({ id }) => id));
  const waiting = refused.filter(({ id }) => !known.has(id));
  const rows = finished.flatMap((row) => {
    const newer = waiting.findIndex(({ at }) => at <= row.at);
    return [...waiting.splice(0, newer < 0 ? waiting.length : newer), row];
  });
  return [...rows, ...waiting];
}

/** Whether a request was refused before it was routed. */
export const isAccessRefusal = ({ error, step }: Pick<RequestRecord, 'error' | 'step'>): boolean =>
  step === null && error !== null && error.startsWith('auth.');
