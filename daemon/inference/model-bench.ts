import { randomUUID } from 'node:crypto';
import type { BenchPointView, BenchResultView, NgramSpeedView } from '../contract/bench.ts';
import { GatewayError } from '../contract/errors.ts';
import { newRequestId } from '../lib/request-id.ts';
import type { BenchResults } from '../models/bench-results.ts';
import type { RegisteredModel } from '../models/registered-model.ts';
import type { Slots } from '../slots/slots.ts';
import { asObject } from './dialects/json.ts';
import { decodeName } from './forward/headers.ts';
import type { Internal, InternalPath } from './internal.ts';
import { wholeJson } from './internal-read.ts';

/** Tokens of the longest prompt; the two others have a quarter and a sixteenth of it. */
const DEEPEST_TOKENS = 4096;
const SHARES = [1 / 16, 1 / 4, 1] as const;
/** The share of the window that a prompt may fill, so that a template and the response have a place. */
const MAX_WINDOW_SHARE = 0.7;
const GENERATED_TOKENS = 32;
/** Words of the two prompts by which the tokens of a word and of the template are counted. The first one loads the model. */
const FIRST_WORDS = 16;
const SECOND_WORDS = 80;
/** Maximum seconds that a prompt may take by the speed of the one before. A slow machine gets shorter ones. */
const MAX_PROMPT_S = 120;
/** A prompt that is not longer than the one before by this factor measures nothing new. */
const MIN_STEP = 1.2;
/** Maximum tokens of a response with and without predictions, and the seconds that it may take. */
const AHEAD_TOKENS = 96;
const AHEAD_S = 20;
const MIN_AHEAD_TOKENS = 24;
/** Fewer tokens than this are not measured. */
const MIN_COUNTED_TOKENS = 16;
/** The order in which both are measured, so that a machine that slows down favours neither. */
const AHEAD_ORDER = ['off', 'ngram', 'ngram', 'off'] as const;
/** The engine that predicts tokens where a measurement shows a gain. */
const PREDICTING_ENGINE = 'embedded';
const CODE = `export function total(items: readonly Item[]): number {
  let sum = 0;
  for (const item of items) {
    if (item.isHidden) continue;
    sum += item.price * item.count;
  }
  return Math.round(sum * 100) / 100;
}`;
/** Texts whose continuations repeat them, and do not. Each gets a unique beginning. */
const AHEAD_PROMPTS = {
  repeats: `\n\n${CODE}\n\n${CODE}\n\n${CODE}\n\nexport function total(`,
  plain: 'It was a windy day in the town by the sea. She left her room early, and',
} as const;
const WORDS = 'the cat sat on a mat and then it ran over the hill to see a dog'.split(' ');
/** Maximum time of one request, in milliseconds; a first one loads the model. */
const CALL_LIMIT_MS = 300_000;
const MAX_BYTES = 1024 * 1024;

export interface ModelBenchDeps {
  readonly internal: Internal;
  readonly slots: Pick<Slots, 'get' | 'config'>;
  readonly registry: { get(id: string): RegisteredModel | undefined };
  readonly results: Pick<BenchResults, 'add'>;
  now?(): number;
}

interface Reply {
  readonly model: string;
  readonly slot: string | null;
  readonly promptTokens: number;
  readonly point: BenchPointView | null;
}

const numberOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;

/** A stored count must be an integer: one that is not would make all stored results unreadable. */
function countOf(value: unknown): number {
  const count = Math.round(numberOf(value));
  return Number.isSafeInteger(count) ? count : 0;
}

/** Returns the speeds that an engine reports; null when it reports none. */
function pointOf(timings: Record<string, unknown> | null | undefined): BenchPointView | null {
  const point = {
    prompt_tokens: countOf(timings?.prompt_n),
    prompt_per_second: numberOf(timings?.prompt_per_second),
    generated_tokens: countOf(timings?.predicted_n),
    generated_per_second: numberOf(timings?.predicted_per_second),
  };
  return point.prompt_per_second > 0 && point.generated_per_second > 0 ? point : null;
}

/** Returns a prompt of so many words. Its beginning is unique, so that no saved state is used. */
function promptOf(words: number): string {
  const text = Array.from({ length: words }, (_, index) => WORDS[index % WORDS.length]).join(' ');
  return `${randomUUID().slice(0, 8)} Count from one to one hundred in words. ${text}`;
}

/** Measures the speed of chat models on this machine, one model at a time. */
export class ModelBench {
  readonly #deps: ModelBenchDeps;
  #isRunning = false;

  constructor(deps: ModelBenchDeps) {
    this.#deps = deps;
  }

  /**
   * Measures prompt and generation speed at three lengths of the prompt, and of the embedded engine the generation with
   * and without predictions from the text. Stores the result, which decides whether they are on by default. Loads the model when it
   * is not loaded. Throws `model.bench_running` while another one is measured, `model.not_found` for a model that is
   * served elsewhere, `model.bench_failed` when its engine reports no speed, and what a chat throws.
   */
  async measure(name: string, signal: AbortSignal): Promise<BenchResultView> {
    if (this.#isRunning) throw new GatewayError('model.bench_running');
    this.#isRunning = true;
    try {
      return await this.#measure(name, signal);
    } finally {
      this.#isRunning = false;
    }
  }

  async #measure(name: string, signal: AbortSignal): Promise<BenchResultView> {
    const { slots, registry, results, now = Date.now } = this.#deps;
    const first = await this.#chat(name, FIRST_WORDS, signal);
    const slot = first.slot === null ? undefined : slots.get(first.slot);
    const model = registry.get(first.model);
    if (slot === undefined || model === undefined)
      throw new GatewayError('model.not_found', {
        message: `${name} is not a model of this machine, so its speed cannot be measured here.`,
      });
    const longest = Math.min(DEEPEST_TOKENS, (slot.context ?? DEEPEST_TOKENS) * MAX_WINDOW_SHARE);
    const { fixed, perWord, reply } = await this.#calibrate(name, { first, longest, signal });
    // In a small window the template is longer than the shortest prompt, so only the rest is divided.
    const base = longest * SHARES[0] > 2 * fixed ? 0 : fixed;
    const points: BenchPointView[] = [];
    let last = reply;
    for (const share of SHARES) {
      const limit = (last.point?.prompt_per_second ?? Number.POSITIVE_INFINITY) * MAX_PROMPT_S;
      if (points.length > 0 && limit < last.promptTokens * MIN_STEP) break;
      const tokens = Math.min(limit, base + (longest - base) * share);
      last = await this.#chat(name, Math.max(1, Math.floor((tokens - fixed) / perWord)), signal);
      if (last.point === null) throw new GatewayError('model.bench_failed');
      points.push(last.point);
    }
    const engine = slots.get(slot.shared_engine?.slot ?? slot.name);
    const pool = engine?.memory?.pool ?? slot.memory?.pool ?? 'host';
    const ngram = slot.engine === PREDICTING_ENGINE ? await this.#measureAhead(name, points, signal) : null;
    const device = slots.config(slot.name)?.device ?? 'auto';
    const result = { model: model.id, slot: slot.name, pool, measured_at: now(), points, device, ngram };
    results.add(model, result);
    return result;
  }

  /** Measures the generation with and without predictions from the text. Null when a response is too short. */
  async #measureAhead(
    name: string,
    points: readonly BenchPointView[],
    signal: AbortSignal,
  ): Promise<NgramSpeedView | null> {
    const slowest = Math.min(...points.map((point) => point.generated_per_second));
    const tokens = Math.max(MIN_AHEAD_TOKENS, Math.min(AHEAD_TOKENS, Math.floor(slowest * AHEAD_S)));
    const best = { repeats: { off: 0, ngram: 0 }, plain: { off: 0, ngram: 0 } };
    for (const kind of ['repeats', 'plain'] as const) {
      for (const speculation of AHEAD_ORDER) {
        const prompt = `${randomUUID().slice(0, 8)} ${AHEAD_PROMPTS[kind]}`;
        const body = { model: name, prompt, max_tokens: tokens, temperature: 0, speculation };
        const reply = await this.#send('/v1/completions', body, signal);
        const { generated_tokens: count = 0, generated_per_second: speed = 0 } = reply.point ?? {};
        // The speed of a response of some tokens says nothing.
        if (count < MIN_COUNTED_TOKENS) return null;
        best[kind][speculation] = Math.max(best[kind][speculation], speed);
      }
    }
    return best.repeats.off > 0 && best.plain.off > 0 ? best : null;
  }

  /** Returns the tokens of the template and of a word, and the last reply. */
  async #calibrate(
    name: string,
    { first, longest, signal }: { first: Reply; longest: number; signal: AbortSignal },
  ): Promise<{ fixed: number; perWord: number; reply: Reply }> {
    // So few that the prompt fits even if the first one had no template.
    const words = Math.min(SECOND_WORDS, Math.floor((longest / first.promptTokens) * FIRST_WORDS));
    const reply = words > FIRST_WORDS ? await this.#chat(name, words, signal) : first;
    const measured = (reply.promptTokens - first.promptTokens) / Math.max(1, words - FIRST_WORDS);
    const perWord = measured > 0 ? measured : first.promptTokens / FIRST_WORDS;
    const fixed = Math.max(0, first.promptTokens - perWord * FIRST_WORDS);
    return { fixed, perWord, reply };
  }

  #chat(model: string, words: number, signal: AbortSignal): Promise<Reply> {
    const messages = [{ role: 'user', content: promptOf(words) }];
    const body = { model, messages, max_tokens: GENERATED_TOKENS, temperature: 0 };
    return this.#send('/v1/chat/completions', body, signal);
  }

  async #send(path: InternalPath, body: object, signal: AbortSignal): Promise<Reply> {
    const answer = await this.#deps.internal({
      id: newRequestId(),
      path,
      tier: 'admin',
      body: Buffer.from(JSON.stringify(body)),
      priority: 'batch',
      waitsAsStream: true,
      signal,
      limitMs: CALL_LIMIT_MS,
    });
    const reply = asObject(await wholeJson(answer, MAX_BYTES));
    return {
      model: decodeName(answer.headers['x-svc-model'] ?? String(reply?.model)),
      slot: answer.headers['x-svc-slot'] ?? null,
      promptTokens: Math.max(1, numberOf(asObject(reply?.usage)?.prompt_tokens)),
      point: pointOf(asObject(reply?.timings)),
    };
  }
}
