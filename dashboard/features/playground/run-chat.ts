import { ApiError, failureInfoOf, lost } from '../../api/api-error.ts';
import { send } from '../../api/client.ts';
import { sseEvents } from '../../api/sse.ts';
import type { Facts } from './conversation.ts';
import { type Delta, deltaTexts } from './delta-texts.ts';
import { type CallPiece, callsOfDelta, callsOfOmni } from './tool-calls.ts';

export interface Piece {
  content: string;
  reasoning: string;
  calls: readonly CallPiece[];
}

interface Usage {
  prompt_tokens?: number;
  completion_tokens?: number;
}

interface Chunk {
  choices?: Array<{
    delta?: Delta & { tool_calls?: Parameters<typeof callsOfDelta>[0] };
    /** Set by completions, which have no delta. */
    text?: string | null;
    finish_reason?: string | null;
  }>;
  usage?: Usage | null;
  error?: unknown;
  _svc?: { omni?: Parameters<typeof callsOfOmni>[0] };
}

interface Progress {
  ended: boolean;
  limited: boolean;
  usage: Usage | null;
}

/** Minimum streaming time for a meaningful speed. */
const MIN_MS = 100;

const CUT = {
  code: 'stream.cut',
  message: 'The response was interrupted.',
  advice: 'The text so far is preserved. Try again; the overview shows the state of the slot.',
};

/** Parses one stream event. Returns the added text, or null when there is none. Throws ApiError for an error event. */
export function readChunk(data: string, progress: Progress, headers: Headers): Piece | null {
  if (data === '[DONE]') {
    progress.ended = true;
    return null;
  }
  const chunk = JSON.parse(data) as Chunk;
  const failure = failureInfoOf(chunk.error, 200, headers);
  if (failure !== null) throw new ApiError(failure);
  if (chunk.usage) progress.usage = chunk.usage;
  const choice = chunk.choices?.[0];
  if (choice?.finish_reason) progress.ended = true;
  if (choice?.finish_reason === 'length') progress.limited = true;
  const texts = deltaTexts(choice?.delta);
  const content = texts.content || (choice?.text ?? '');
  const { reasoning } = texts;
  const calls = [...callsOfDelta(choice?.delta?.tool_calls), ...callsOfOmni(chunk._svc?.omni)];
  return content === '' && reasoning === '' && calls.length === 0 ? null : { content, reasoning, calls };
}

function factsOf(
  headers: Headers,
  { usage, limited }: Progress,
  times: Record<'began' | 'first' | 'end', number>,
): Facts {
  const tokens = usage?.completion_tokens ?? null;
  const answering = times.end - times.first;
  return {
    slot: headers.get('x-svc-slot') ?? headers.get('x-svc-upstream'),
    degraded: headers.get('x-svc-degraded'),
    requestId: headers.get('x-request-id'),
    firstTokenMs: times.first === 0 ? null : times.first - times.began,
    totalMs: times.end - times.began,
    promptTokens: usage?.prompt_tokens ?? null,
    tokens,
    tokensPerSecond: tokens !== null && answering >= MIN_MS ? (tokens * 1000) / answering : null,
    limited,
  };
}

/**
 * Sends one streamed request, a chat by default, and reports its text as it arrives. Returns the measurements. Throws
 * ApiError, also when the stream ends without an end marker. Rethrows the abort of the caller unchanged.
 */
export async function runChat(
  body: Record<string, unknown>,
  signal: AbortSignal,
  onPiece: (piece: Piece) => void,
  route: 'v1.chat' | 'v1.completions' = 'v1.chat',
): Promise<Facts> {
  const times = { began: performance.now(), first: 0, end: 0 };
  const answer = await send(route, { body, signal }, null);
  if (answer.body === null) throw lost();
  const progress: Progress = { ended: false, limited: false, usage: null };
  try {
    for await (const event of sseEvents(answer.body)) {
      const piece = readChunk(event.data, progress, answer.headers);
      if (piece === null) continue;
      times.first ||= performance.now();
      onPiece(piece);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    progress.ended = false;
  }
  times.end = performance.now();
  const facts = factsOf(answer.headers, progress, times);
  if (!progress.ended) throw new ApiError({ ...lost().info, ...CUT, requestId: facts.requestId });
  return facts;
}
