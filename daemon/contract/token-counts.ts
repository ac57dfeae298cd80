import type { RequestRecord } from './system.ts';

/** Which token counts the answers of a route have. */
type Counted = 'input' | 'both';

const COUNTED: ReadonlyMap<string, Counted> = new Map([
  ['/v1/chat/completions', 'both'],
  ['/v1/completions', 'both'],
  ['/v1/responses', 'both'],
  ['/v1/messages', 'both'],
  ['/v1/embeddings', 'input'],
]);

/** The caller disconnected. */
const CLIENT_CLOSED = 499;
const FIRST_ERROR_STATUS = 400;

type Counts = Pick<
  RequestRecord,
  'route' | 'state' | 'status' | 'ttft_ms' | 'prompt_tokens' | 'completion_tokens'
>;

/**
 * Whether a request has used tokens whose number is unknown: its answer had no counts, or ended before they came
 * (docs/spec/contract.md#stream-usage). Sums that include it are minimums.
 */
export function lacksTokenCounts(request: Counts): boolean {
  const { route, state, status, ttft_ms, prompt_tokens, completion_tokens } = request;
  const counted = COUNTED.get(route);
  if (counted === undefined || state !== 'done' || status === null) return false;
  const isServed = status < FIRST_ERROR_STATUS || (status === CLIENT_CLOSED && ttft_ms !== null);
  if (!isServed) return false;
  return prompt_tokens === null || (counted === 'both' && completion_tokens === null);
}
