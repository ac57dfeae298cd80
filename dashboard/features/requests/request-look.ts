import { ERRORS, isErrorCode } from '../../../daemon/contract/errors.ts';
import type { RequestRecord } from '../../../daemon/contract/system.ts';
import { readableAdvice } from '../../api/api-error.ts';
import type { Tone } from '../../ui/tone.ts';

/** How a request stands or ended, as a word and a colour. */
export function requestLook(request: Pick<RequestRecord, 'state' | 'status' | 'error'>): {
  tone: Tone;
  word: string;
} {
  if (request.state === 'running') return { tone: 'busy', word: 'Running' };
  if (request.status === null) return { tone: 'idle', word: 'Broke off' };
  if (request.status === 499) return { tone: 'idle', word: 'Caller left' };
  if (request.status >= 500) return { tone: 'failed', word: `Failed, ${request.status}` };
  if (request.status >= 400) return { tone: 'attention', word: `Refused, ${request.status}` };
  return request.error === null
    ? { tone: 'ok', word: `Done, ${request.status}` }
    : { tone: 'failed', word: `Broke, ${request.status}` };
}

/** What the catalogue advises after an error that is over: its details are gone and its wait has passed. */
export const errorAdvice = (code: string): string | null =>
  isErrorCode(code) ? readableAdvice({ advice: ERRORS[code].advice, retryAfterS: 0 }) : null;

/** The message of the catalogue for the code of an error; null for a code that it does not know. */
export const errorMessage = (code: string): string | null =>
  isErrorCode(code) ? ERRORS[code].message : null;

/** The code of an error with the words of the catalogue. */
export function errorWords(code: string): string {
  return isErrorCode(code) ? `${ERRORS[code].message} (${code})` : code;
}

/** The parts of a request in milliseconds; null where they were not told. */
export interface Times {
  total: number | null;
  first: number | null;
  rest: number | null;
  /** Tokens of the answer per second after the first one. */
  rate: number | null;
}

/** When the first token came, how long the rest took, and how fast it was; an error has no first token. */
export function timesOf(
  request: Pick<RequestRecord, 'status' | 'duration_ms' | 'ttft_ms' | 'completion_tokens'>,
): Times {
  const { duration_ms: total, completion_tokens: tokens } = request;
  const first = (request.status ?? 0) >= 400 ? null : request.ttft_ms;
  const rest = total === null || first === null ? null : Math.max(0, total - first);
  // One token takes no time after itself, and a rest of some milliseconds measures nothing.
  const rate =
    rest === null || rest < 10 || tokens === null || tokens < 2 ? null : ((tokens - 1) * 1000) / rest;
  return { total, first, rest, rate };
}

/** What narrows the list. */
export interface RequestFilter {
  q: string;
  only: string;
}

const ONLY: Readonly<Record<string, (request: RequestRecord) => boolean>> = {
  running: (request) => request.state === 'running',
  failed: (request) => request.state === 'done' && requestLook(request).tone !== 'ok',
};

/** Whether a request is shown: every typed word is found somewhere in it. */
export function matches(request: RequestRecord, { q, only }: RequestFilter): boolean {
  if (ONLY[only]?.(request) === false) return false;
  const text = [
    request.id,
    request.route,
    request.asked,
    request.model,
    request.slot,
    request.upstream,
    request.tier,
    request.status,
    request.error,
  ]
    .join(' ')
    .toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
