import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from './http-request.ts';
import type { Figures } from './load-closed.ts';
import { rank } from './ratios.ts';
import type { Target } from './targets.ts';

/** When a caller leaves: in the middle of his answer, of its prompt, of the line, or of the load of his model. */
export type Phase = 'stream' | 'whole' | 'prefill' | 'queued' | 'loading';

/** Callers that leave in one run of a phase; five phases are a thousand. */
const TIMES = 200;
/** Far beyond what is promised: from here on it never happens. */
const LIMIT_MS = 10_000;
/** After a letter the model counts through the alphabet until its window is full. */
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

/** How each phase is reached, and what it looks like once its caller has gone. */
interface PhaseSetup {
  readonly slot: string;
  /** A caller who has got so far. */
  connect(target: Target): Promise<Caller>;
  isFreed(slot: SlotView): boolean;
}

async function until(target: Target, name: string, done: (slot: SlotView) => boolean): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (!done(await slotOf(target, name))) {
    if (performance.now() > end) throw new Error(`slot ${name} does not get there`);
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
 * Callers leave, one after the other: how soon the slot is free (`free…`), and, where a request ran, how soon somebody else
 * has an answer of one token from the engine (`next…`), which has one place only.
 */
export async function measureDisconnects(target: Target, phase: Phase): Promise<Figures> {
  const { slot, connect: come, isFreed: over } = PHASES[phase];
  const holder = phase === 'queued' ? await PHASES.stream.connect(target) : null;
  const [free, next]: [number[], number[]] = [[], []];
  for (let time = 0; time < TIMES; time++) {
    const caller = await come(target);
    const since = performance.now();
    caller.disconnect();
    await until(target, slot, over);
    free.push(performance.now() - since);
    if (holder !== null || phase === 'loading') continue;
    await begin(target, slot, { prompt: 'x', max_tokens: 1 }).ended;
    next.push(performance.now() - since);
  }
  holder?.disconnect();
  const ofNext: Figures =
    next.length === 0 ? {} : { next50_ms: rank(next, 0.5), next99_ms: rank(next, 0.99) };
  return { left: TIMES, free50_ms: rank(free, 0.5), free99_ms: rank(free, 0.99), ...ofNext };
}
