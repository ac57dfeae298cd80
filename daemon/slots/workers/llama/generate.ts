import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Detokenizer } from './detokenizer.ts';
import { LogprobQueue, type Spelling, type TokenLogprob, tokenLogprob } from './logprobs.ts';
import type { PrefillPace } from './prefill-chunks.ts';
import type { SampleOptions, Sequence } from './sequence.ts';
import { stopScanner } from './stop-scanner.ts';
import type { Counts } from './usage.ts';

/** One answer to generate. */
export interface Job {
  tokens: readonly number[];
  sample: SampleOptions;
  maxTokens: number | null;
  stops: readonly string[];
  /** Alternatives per token. Null: no probabilities. */
  logprobs: number | null;
  detokenizer: Detokenizer;
  isEnd(token: number): boolean;
  /** Spells tokens in probability entries. */
  spelling: Spelling;
  pace: PrefillPace;
  /** Called for each sampled token with the text that it completes. */
  onToken(text: string): void;
  /** Checked after each text: true when the reader needs no more. */
  isComplete(): boolean;
}

/**
 * `progress` follows each evaluated part of the prompt. `done` is last, with the stop string if one ended the
 * answer, and is omitted after a disconnect.
 */
export type GenerationEvent =
  | { type: 'progress' }
  | { type: 'text'; text: string; logprobs: TokenLogprob[] | null }
  | { type: 'done'; finish: 'stop' | 'length'; counts: Counts; stop?: string };

/** Yields to the event loop after this many tokens, so that a disconnect is noticed. */
const YIELD_EVERY_TOKENS = 8;

/** Generates one answer. After `signal` aborts, evaluates no further token and ends without `done`. */
export async function* generate(
  sequence: Sequence,
  job: Job,
  signal: AbortSignal,
): AsyncGenerator<GenerationEvent> {
  const clock = new Clock(job.tokens.length);
  const rest = yield* prefill(sequence, job, clock, signal);
  if (signal.aborted) return;
  if (job.maxTokens === 0) return yield clock.done('length');

  const stops = stopScanner(job.stops);
  const most = job.maxTokens ?? Number.POSITIVE_INFINITY;
  const queue = job.logprobs === null ? null : new LogprobQueue();
  for await (const { token, probabilities } of sequence.sample(rest, job.sample)) {
    clock.token();
    const ended = job.isEnd(token);
    const added = ended ? '' : job.detokenizer.push(token);
    job.onToken(added);
    if (signal.aborted) return;
    if (queue !== null && !ended && probabilities !== null)
      queue.add(tokenLogprob(token, probabilities, job.logprobs ?? 0, job.spelling), added);
    const { text, stopped } = ended ? { text: stops.end(), stopped: true } : stops.push(added);
    const isFull = !stopped && (clock.count >= most || sequence.position >= sequence.window - 1);
    const shown = isFull ? text + stops.end() : text;
    const logprobs = queue?.flushText(shown) ?? null;
    if (isFull || ended) logprobs?.push(...(queue?.flushAll() ?? []));
    if (shown !== '' || (logprobs !== null && logprobs.length > 0))
      yield { type: 'text', text: shown, logprobs };
    if (stopped || isFull || job.isComplete()) return yield clock.done(isFull ? 'length' : 'stop', stops.hit);
    if (clock.count % YIELD_EVERY_TOKENS === 0) await nextTurn();
  }
  if (!signal.aborted) throw new Error('the answer ended without an end token');
}

/** Evaluates the prompt except its last part, with which sampling starts. */
async function* prefill(
  sequence: Sequence,
  job: Job,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<GenerationEvent, readonly number[]> {
  const { tokens, pace } = job;
  let at = await sequence.keepPrefix(tokens);
  clock.cached = at;
  while (tokens.length - at > pace.size() && !signal.aborted) {
    const part = tokens.slice(at, at + pace.size());
    pace.record(part.length, await sequence.evaluate(part));
    at += part.length;
    yield { type: 'progress' };
  }
  return tokens.slice(at);
}

/** Measures one answer. */
class Clock {
  readonly #promptTokens: number;
  readonly #started = performance.now();
  #promptMs = 0;
  cached = 0;
  count = 0;

  constructor(promptTokens: number) {
    this.#promptTokens = promptTokens;
  }

  /** The prompt is complete when the first token arrives. */
  token(): void {
    if (this.count++ === 0) this.#promptMs = performance.now() - this.#started;
  }

  /** `stop`: the stop string that ended the answer. */
  done(finish: 'stop' | 'length', stop: string | null = null): GenerationEvent {
    const counts: Counts = {
      promptTokens: this.#promptTokens,
      cachedTokens: this.cached,
      completionTokens: this.count,
      promptMs: this.#promptMs,
      predictedMs: performance.now() - this.#started - this.#promptMs,
    };
    return { type: 'done', finish, counts, ...(stop === null ? {} : { stop }) };
  }
}
