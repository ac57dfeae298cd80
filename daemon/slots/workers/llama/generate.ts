import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Counts } from './answer.ts';
import type { Detokenizer } from './detokenizer.ts';
import type { PrefillPace } from './prefill-pace.ts';
import type { Generation, Sampling } from './request.ts';
import { stopScanner } from './stop-scanner.ts';

/** One slice of the context that holds one conversation at a time. */
export interface Sequence {
  /** Tokens that fit, the last of which cannot be continued. */
  readonly window: number;
  /** Tokens evaluated so far. */
  readonly position: number;
  /** Drops all that is not a prefix of `tokens`, at least the last token; answers how many are kept. */
  keepPrefix(tokens: readonly number[]): Promise<number>;
  /** Evaluates without sampling. */
  evaluate(tokens: readonly number[]): Promise<void>;
  /** Evaluates `tokens`, then samples for as long as it is asked for more. */
  sample(tokens: readonly number[], sampling: Sampling): AsyncIterable<number>;
}

export interface Job {
  tokens: readonly number[];
  generation: Generation;
  detokenizer: Detokenizer;
  isEnd(token: number): boolean;
  pace: PrefillPace;
  /** Called for each sampled token. */
  onToken(): void;
}

/** `progress` comes after each evaluated part of the prompt; `done` comes last, unless the caller left. */
export type GenerationEvent =
  | { type: 'progress' }
  | { type: 'text'; text: string }
  | { type: 'done'; finish: 'stop' | 'length'; counts: Counts };

/** The event loop is let in after this many tokens, so that a caller who leaves is noticed. */
const TURN_EVERY = 8;

/** Generates one answer. After `signal` aborts no further token is evaluated and the iteration ends without `done`. */
export async function* generate(
  sequence: Sequence,
  job: Job,
  signal: AbortSignal,
): AsyncGenerator<GenerationEvent> {
  const { tokens, generation } = job;
  const started = performance.now();
  const cached = await sequence.keepPrefix(tokens);
  let at = cached;
  while (tokens.length - at > job.pace.size()) {
    if (signal.aborted) return;
    const part = tokens.slice(at, at + job.pace.size());
    await job.pace.time(part.length, () => sequence.evaluate(part));
    at += part.length;
    yield { type: 'progress' };
  }
  if (signal.aborted) return;

  const stops = stopScanner(generation.stops);
  const most = generation.maxTokens ?? Number.POSITIVE_INFINITY;
  let count = 0;
  let promptMs = 0;
  const done = (finish: 'stop' | 'length'): GenerationEvent => ({
    type: 'done',
    finish,
    counts: {
      promptTokens: tokens.length,
      cachedTokens: cached,
      completionTokens: count,
      promptMs,
      predictedMs: performance.now() - started - promptMs,
    },
  });

  if (most === 0) return yield done('length');
  for await (const token of sequence.sample(tokens.slice(at), generation.sampling)) {
    if (count++ === 0) promptMs = performance.now() - started;
    job.onToken();
    if (signal.aborted) return;
    const ended = job.isEnd(token);
    const { text, stopped } = ended
      ? { text: stops.end(), stopped: true }
      : stops.push(job.detokenizer.push(token));
    const full = !stopped && (count >= most || sequence.position >= sequence.window - 1);
    const shown = full ? text + stops.end() : text;
    if (shown !== '') yield { type: 'text', text: shown };
    if (stopped || full) return yield done(stopped ? 'stop' : 'length');
    if (count % TURN_EVERY === 0) await nextTurn();
  }
  if (!signal.aborted) throw new Error('the answer ended without an end token');
}
