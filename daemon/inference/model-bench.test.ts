import { describe, expect, it } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import type { SlotRecord } from '../contract/slots.ts';
import { BenchResults } from '../models/bench-results.ts';
import { isFasterAhead } from '../models/ngram-speed.ts';
import type { RegisteredModel } from '../models/registered-model.ts';
import type { SlotConfig } from '../slots/config/slot-config.ts';
import { encodeName } from './forward/headers.ts';
import type { InternalCall, InternalReply } from './internal.ts';
import { ModelBench } from './model-bench.ts';

const MODEL = { id: '模型-qwen3', sizeBytes: 5 } as RegisteredModel;
const TOKENS_PER_WORD = 2;
/** Tokens of the template and of the words before the counted ones. */
const FIXED_TOKENS = 30;

interface Prompt {
  readonly messages?: readonly { readonly content: string }[];
  readonly prompt?: string;
  readonly speculation?: 'off' | 'ngram';
  readonly max_tokens: number;
}
const promptOf = ({ body }: InternalCall): Prompt => JSON.parse(body.toString('utf8')) as Prompt;

/** A stand-in for the inference route with speeds that fall with the length of the prompt. */
function bench({
  window = 32_768,
  timings = true,
  slot = 'agent' as string | null,
  speed = 500,
  generated = 32,
  engine = 'llama-server',
  gain = 1,
  isShared = false,
} = {}) {
  const prompts: string[] = [];
  const ahead: Prompt[] = [];
  const sizes: number[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const state = { holds: false, refuses: null as GatewayError | null };
  const internal = async (call: InternalCall): Promise<InternalReply> => {
    if (state.holds) await held;
    if (state.refuses) throw state.refuses;
    call.signal.throwIfAborted();
    const prompt = promptOf(call);
    const text = prompt.prompt ?? prompt.messages?.[0]?.content ?? '';
    if (prompt.speculation === undefined) prompts.push(text);
    else ahead.push(prompt);
    const tokens = FIXED_TOKENS + TOKENS_PER_WORD * text.split(' ').length;
    sizes.push(tokens);
    const speeds = { prompt_n: tokens, prompt_per_second: speed, predicted_n: generated };
    const reply = {
      usage: { prompt_tokens: tokens },
      ...(timings && { timings: { ...speeds, predicted_per_second: (20 - tokens / 1000) * gainOf(prompt) } }),
    };
    async function* body() {
      yield Buffer.from(JSON.stringify(reply));
    }
    const headers = { 'x-svc-model': encodeName(MODEL.id), ...(slot !== null && { 'x-svc-slot': slot }) };
    return { status: 200, headers, body: body(), inBandError: () => null, abort: () => {} };
  };
  const gainOf = ({ speculation, prompt }: Prompt) =>
    speculation === 'ngram' && prompt?.includes('function total') ? gain : 1;
  const store = new Map<string, string>();
  const values = {
    get: (key: string) => store.get(key) ?? null,
    set: (key: string, text: string) => void store.set(key, text),
  };
  const results = new BenchResults(values);
  const view = {
    name: 'agent',
    engine,
    context: window,
    memory: { pool: 'card', needed_bytes: 1, source: 'estimated' },
  };
  const guest = { ...view, memory: null, shared_engine: { slot: 'primary' } };
  const model = new ModelBench({
    internal,
    slots: {
      get: (name) => (isShared && name === 'agent' ? guest : view) as SlotRecord,
      config: () => ({ device: 'cpu' }) as SlotConfig,
    },
    registry: { get: (id) => (id === MODEL.id ? MODEL : undefined) },
    results,
    now: () => 7,
  });
  return { model, prompts, ahead, sizes, results, state, release, stored: () => new BenchResults(values) };
}

const { signal } = new AbortController();
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => (error instanceof GatewayError ? error.code : String(error)),
  );

describe('ModelBench', () => {
  it('measures three lengths after a first prompt that loads the model', async () => {
    const { model, prompts, results } = bench();
    const result = await model.measure('agent', signal);
    expect(result).toMatchObject({ model: MODEL.id, slot: 'agent', pool: 'card', measured_at: 7 });
    expect(prompts).toHaveLength(5);
    const [short = 0, middle = 0, long = 0] = result.points.map((point) => point.prompt_tokens);
    for (const [tokens, expected] of [
      [short, 256],
      [middle, 1024],
      [long, 4096],
    ] as const) {
      expect(tokens).toBeLessThanOrEqual(expected);
      expect(tokens).toBeGreaterThan(0.95 * expected);
    }
    expect(results.speedOf(MODEL, 'card')).toMatchObject({ measured: true });
  });

  it('stores the memory pool of the engine that the slot shares', async () => {
    const { model } = bench({ isShared: true });
    expect(await model.measure('agent', signal)).toMatchObject({ slot: 'agent', pool: 'card' });
  });

  it('starts each prompt differently, so that no saved state is used', async () => {
    const { model, prompts } = bench();
    await model.measure('agent', signal);
    expect(new Set(prompts.map((text) => text.slice(0, 8))).size).toBe(5);
  });

  it('leaves a part of a small window free', async () => {
    const { model } = bench({ window: 400 });
    const { points } = await model.measure('agent', signal);
    const [short = 0, middle = 0, long = 0] = points.map((point) => point.prompt_tokens);
    expect([short < middle, middle < long]).toEqual([true, true]);
    expect(Math.max(...points.map((point) => point.prompt_tokens))).toBeLessThan(400 - 32);
  });

  it.each([
    [20, [256, 1024, 2400]],
    [10, [256, 1024]],
    [1, [120]],
    [0.1, [30]],
  ])('shortens prompts on a machine with %d tokens per second', async (speed, lengths) => {
    const { points } = await bench({ speed }).model.measure('agent', signal);
    expect(points).toHaveLength(lengths.length);
    for (const [index, { prompt_tokens }] of points.entries())
      expect(Math.abs(prompt_tokens - (lengths[index] as number))).toBeLessThan(60);
  });

  it.each([64, 128, 200, 400])('never exceeds a window of %d tokens', async (window) => {
    const { model, sizes } = bench({ window });
    await model.measure('agent', signal);
    const [short = 0, middle = 0, long = 0] = sizes.slice(-3);
    expect([short <= middle, middle <= long]).toEqual([true, true]);
    expect(Math.max(...sizes.slice(1))).toBeLessThanOrEqual(Math.max(window * 0.75, sizes[0] as number));
  });

  it('measures what predictions gain with the embedded engine, and stores it for the device', async () => {
    const { model, ahead, results } = bench({ engine: 'embedded', gain: 1.5 });
    const { ngram, device } = await model.measure('agent', signal);
    expect(ahead.map(({ speculation }) => speculation).join(' ')).toBe(
      'off ngram ngram off off ngram ngram off',
    );
    expect(new Set(ahead.map(({ prompt }) => prompt?.slice(0, 8))).size).toBe(8);
    expect(ngram?.repeats.ngram).toBeCloseTo(1.5 * (ngram?.repeats.off ?? 0), 0);
    expect(device).toBe('cpu');
    expect(results.ngramOf(MODEL, 'cpu')).toEqual(ngram);
    expect(results.ngramOf(MODEL, 'auto')).toBeNull();
    expect(results.ngramOf({ ...MODEL, sizeBytes: 6 }, 'cpu')).toBeNull();
    expect(isFasterAhead(ngram as NonNullable<typeof ngram>)).toBe(true);
  });

  it('bounds that measurement, and leaves other engines alone', async () => {
    const { model, ahead } = bench({ engine: 'embedded' });
    await model.measure('agent', signal);
    expect(Math.max(...ahead.map((each) => each.max_tokens))).toBeLessThanOrEqual(96);
    const other = bench();
    expect((await other.model.measure('agent', signal)).ngram).toBeNull();
    expect(other.ahead).toEqual([]);
  });

  it('refuses an engine without speeds, and stores nothing', async () => {
    const { model, results } = bench({ timings: false });
    expect(await codeOf(model.measure('agent', signal))).toBe('model.bench_failed');
    expect(results.speedOf(MODEL, 'card')).toBeNull();
  });

  it('stores a result that can be read again, whatever number the engine reports', async () => {
    const { model, stored } = bench({ generated: 31.5 });
    await model.measure('agent', signal);
    expect(stored().speedOf(MODEL, 'card')).toMatchObject({ measured: true });
  });

  it('refuses a model of another server', async () => {
    expect(await codeOf(bench({ slot: null }).model.measure('far', signal))).toBe('model.not_found');
  });

  it('measures one model at a time, and again afterwards', async () => {
    const { model, state, release } = bench();
    state.holds = true;
    const first = model.measure('agent', signal);
    expect(await codeOf(model.measure('agent', signal))).toBe('model.bench_running');
    release();
    expect((await first).points).toHaveLength(3);
    expect((await model.measure('agent', signal)).points).toHaveLength(3);
  });

  it('passes on what a chat throws, and can be called again', async () => {
    const { model, state } = bench();
    state.refuses = new GatewayError('slot.no_memory');
    expect(await codeOf(model.measure('agent', signal))).toBe('slot.no_memory');
    state.refuses = null;
    expect((await model.measure('agent', signal)).points).toHaveLength(3);
  });

  it('ends when the caller disconnects', async () => {
    const control = new AbortController();
    control.abort(new Error('gone'));
    expect(await codeOf(bench().model.measure('agent', control.signal))).toBe('Error: gone');
  });
});
