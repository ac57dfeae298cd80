import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from './http-request.ts';
import type { Figures } from './load-closed.ts';
import { rank } from './ratios.ts';
import type { Target } from './targets.ts';

/** When a client disconnects: during a streamed or whole answer, prompt processing, queueing, or the load of the model. */
export type Phase = 'stream' | 'whole' | 'prefill' | 'queued' | 'loading';

/** Disconnects in one run of a phase; a thousand over all five phases. */
const DISCONNECTS = 200;
/** Time limit for each state change, far beyond the goals. */
const LIMIT_MS = 10_000;
/** After a letter the model continues through the alphabet until its context is full. */
const ENDLESS = 'a';
/** Some seconds of work for the model of slot `reader`. */
const LONG = 'a'.repeat(14_000);

interface SlotView {
  readonly state: string;
  readonly active: number;
  readonly queued: number;
}

const slotOf = async (target: Target, name: string): Promise<SlotView> =>
  JSON.parse(await text(`${target.url.origin}/api/slots/${name}`)) as SlotView;

interface Caller {
  /** Resolves with the first byte of the answer. */
  readonly firstByte: Promise<void>;
  readonly ended: Promise<void>;
  disconnect(): void;
}

function begin(target: Target, model: string, more: object): Caller {
  const body = JSON.stringify({ model, temperature: 0, ...more });
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const path = new URL('/v1/completions', target.url);
  const req = request(path, { method: 'POST', agent: false, headers }, (answer) => {
    answer.once('data', () => first.resolve());
    answer.on('error', () => {});
    answer.once('close', () => last.resolve());
    answer.resume();
  });
  req.on('error', () => last.resolve());
  req.end(body);
  return { firstByte: first.promise, ended: last.promise, disconnect: () => void req.destroy() };
}

/** How to reach a phase, and how its slot looks after the disconnect. */
interface PhaseSetup {
  readonly slot: string;
  /** Connects a client and waits until it has reached the phase. */
  connect(target: Target): Promise<Caller>;
  isFreed(slot: SlotView): boolean;
}

async function until(target: Target, name: string, done: (slot: SlotView) => boolean): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (!done(await slotOf(target, name))) {
    if (performance.now() > end)
      throw new Error(`slot ${name} did not reach the expected state within ${LIMIT_MS} ms`);
    await sleep(1);
  }
}

const idle = ({ active }: SlotView): boolean => active === 0;

const PHASES: Readonly<Record<Phase, PhaseSetup>> = {
  stream: {
    slot: 'agent',
    isFreed: idle,
    async connect(target) {
      const caller = begin(target, 'agent', { prompt: ENDLESS, max_tokens: 30_000, stream: true });
      await caller.firstByte;
      return caller;
    },
  },
  whole: {
    slot: 'agent',
    isFreed: idle,
    async connect(target) {
      const caller = begin(target, 'agent', { prompt: ENDLESS, max_tokens: 30_000 });
      await until(target, 'agent', ({ active }) => active === 1);
      await sleep(20 * Math.random());
      return caller;
    },
  },
  prefill: {
    slot: 'reader',
    isFreed: idle,
    async connect(target) {
      const caller = begin(target, 'reader', { prompt: LONG, max_tokens: 1 });
      await until(target, 'reader', ({ active }) => active === 1);
      await sleep(100 * Math.random());
      return caller;
    },
  },
  queued: {
    slot: 'agent',
    isFreed: ({ queued }) => queued === 0,
    async connect(target) {
      const caller = begin(target, 'agent', { prompt: 'x', max_tokens: 1 });
      await until(target, 'agent', ({ queued }) => queued === 1);
      return caller;
    },
  },
  loading: {
    slot: 'late',
    isFreed: ({ state }) => state === 'offline',
    async connect(target) {
      const caller = begin(target, 'late', { prompt: 'x', max_tokens: 1 });
      await until(target, 'late', ({ state }) => state === 'starting');
      await sleep(100 * Math.random());
      return caller;
    },
  },
};

/**
 * Disconnects clients one after the other. Measures how soon the slot is free (`free…`) and, where a request was running, how
 * soon the next client has an answer of one token (`next…`), because the engine serves one request at a time.
 */
export async function measureDisconnects(target: Target, phase: Phase): Promise<Figures> {
  const { slot, connect, isFreed } = PHASES[phase];
  const holder = phase === 'queued' ? await PHASES.stream.connect(target) : null;
  const [free, next]: [number[], number[]] = [[], []];
  for (let time = 0; time < DISCONNECTS; time++) {
    const caller = await connect(target);
    const since = performance.now();
    caller.disconnect();
    await until(target, slot, isFreed);
    free.push(performance.now() - since);
    if (holder !== null || phase === 'loading') continue;
    await begin(target, slot, { prompt: 'x', max_tokens: 1 }).ended;
    next.push(performance.now() - since);
  }
  holder?.disconnect();
  const ofNext: Figures =
    next.length === 0 ? {} : { next50_ms: rank(next, 0.5), next99_ms: rank(next, 0.99) };
  return { left: DISCONNECTS, free50_ms: rank(free, 0.5), free99_ms: rank(free, 0.99), ...ofNext };
}
