import { ERRORS, isErrorCode } from '../../../daemon/contract/errors.ts';
import { requestOutcome } from '../../../daemon/contract/request-outcome.ts';
import type { RequestRecord } from '../../../daemon/contract/system.ts';
import { readableAdvice } from '../../api/api-error.ts';
import type { Tone } from '../../ui/tone.ts';
import { callerWords } from './caller-words.ts';

/** Label and tone of the state of a request. */
export function requestBadge(request: Pick<RequestRecord, 'state' | 'status' | 'error'>): {
  tone: Tone;
  word: string;
} {
  if (request.state === 'running') return { tone: 'busy', word: 'Running' };
  if (request.status === null) return { tone: 'idle', word: 'Interrupted' };
  if (request.status === 499) return { tone: 'idle', word: 'Client disconnected' };
  if (request.status >= 500) return { tone: 'failed', word: `Failed, ${request.status}` };
  if (request.status >= 400) return { tone: 'attention', word: `Refused, ${request.status}` };
  return request.error === null
    ? { tone: 'ok', word: `Done, ${request.status}` }
    : { tone: 'failed', word: `Interrupted, ${request.status}` };
}

/** Advice for a past error: without details and without a retry delay. */
export const errorAdvice = (code: string): string | null =>
  isErrorCode(code) ? readableAdvice({ advice: ERRORS[code].advice, retryAfterS: 0 }) : null;

/** Message of an error code; null when the code is not in the catalogue. */
export const errorMessage = (code: string): string | null =>
  isErrorCode(code) ? ERRORS[code].message : null;

/** Message and code of an error. */
export function errorWords(code: string): string {
  return isErrorCode(code) ? `${ERRORS[code].message} (${code})` : code;
}

/** Durations of a request in milliseconds; null when not reported. */
export interface Times {
  total: number | null;
  first: number | null;
  rest: number | null;
  /** Output tokens per second after the first one. */
  rate: number | null;
}

/** Time to first token, generation time and speed. An error has no first token. */
export function timesOf(
  request: Pick<RequestRecord, 'status' | 'duration_ms' | 'ttft_ms' | 'completion_tokens'>,
): Times {
  const { duration_ms: total, completion_tokens: tokens } = request;
  const first = (request.status ?? 0) >= 400 ? null : request.ttft_ms;
  const rest = total === null || first === null ? null : Math.max(0, total - first);
  // A speed needs at least two tokens and a measurable duration.
  const rate =
    rest === null || rest < 10 || tokens === null || tokens < 2 ? null : ((tokens - 1) * 1000) / rest;
  return { total, first, rest, rate };
}

/** Filter of the list. */
export interface RequestFilter {
  q: string;
  only: string;
}

const ONLY: Readonly<Record<string, (request: RequestRecord) => boolean>> = {
  running: (request) => request.state === 'running',
  failed: (request) => request.state === 'done' && requestOutcome(request) === 'failed',
  refused: (request) => request.state === 'done' && requestOutcome(request) === 'refused',
};

/** Whether a request matches the filter: it contains every typed word. */
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
    request.message,
    callerWords(request),
    request.user_agent,
  ]
    .join(' ')
    .toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
