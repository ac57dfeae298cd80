import { chatBody } from './bodies.ts';
import { abortStreams } from './load-abort.ts';
import { closedLoop, type Figures } from './load-closed.ts';
import { leaveAndLook, type Phase } from './load-leave.ts';
import { type SseLoad, sseStreams } from './load-sse.ts';
import { type TokenLoad, tokenStreams } from './load-tokens.ts';
import type { Machine } from './machine.ts';
import type { Target } from './targets.ts';

/** What every scenario may use. */
export interface Stage {
  readonly machine: Machine;
  readonly direct: Target;
  readonly secs: number;
}

export type Scenario = (stage: Stage, target: Target) => Promise<Figures>;

const chat =
  (connections: number, bytes = 100, turns = 1): Scenario =>
  ({ machine, secs }, target) =>
    closedLoop(machine, target, { body: chatBody({ bytes, turns }), connections, secs });

const sse =
  (load: SseLoad): Scenario =>
  (_, target) =>
    sseStreams(target, load);

const tokens =
  (load: TokenLoad): Scenario =>
  (_, target) =>
    tokenStreams(target, load);

/** What engines are asked, on a model of their own; everything else runs on the mock. */
const OF_ENGINES: Readonly<Record<string, Scenario>> = {
  'engine x1': tokens({ requests: 1, tokens: 64, prompt: 16 }),
  'engine x4': tokens({ requests: 4, tokens: 64, prompt: 16 }),
  'engine prompt': tokens({ requests: 1, tokens: 1, prompt: 2_000 }),
};

const leave =
  (phase: Phase): Scenario =>
  (_, target) =>
    leaveAndLook(target, phase);

/** Callers who leave real engines behind the gateway. */
const OF_LEAVING: Readonly<Record<string, Scenario>> = {
  'leave stream': leave('stream'),
  'leave whole': leave('whole'),
  'leave prefill': leave('prefill'),
  'leave queued': leave('queued'),
  'leave loading': leave('loading'),
};

export const isOfLeaving = (name: string): boolean => name in OF_LEAVING;

export const isOfEngines = (name: string): boolean => name in OF_ENGINES;

/** THE scenarios, in the order in which they run. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'chat c=1': chat(1),
  'chat c=16': chat(16),
  'chat c=64': chat(64),
  'chat 4MB c=4': chat(4, 4 << 20, 59),
  'msgs 2000 c=4': chat(4, 200 * 2000, 2000),
  'sse x1 20ms': sse({ streams: 1, tokens: 100, everyUs: 20_000 }),
  'sse x64 20ms': sse({ streams: 64, tokens: 100, everyUs: 20_000, spreadMs: 200 }),
  'sse x200 50ms': sse({ streams: 200, tokens: 60, everyUs: 50_000, spreadMs: 500 }),
  abort: ({ direct }, target) => abortStreams(target, direct),
  ...OF_ENGINES,
  ...OF_LEAVING,
};

/** The names that start with one of `only`, in order; all when nothing is asked for. */
export function chosen(only: readonly string[]): string[] {
  const names = Object.keys(SCENARIOS);
  return only.length === 0 ? names : names.filter((name) => only.some((start) => name.startsWith(start)));
}

/** A run that is not counted: it warms caches, connections and the compiler of the target. */
export const warmUp: Scenario = (stage, target) => chat(8)({ ...stage, secs: 2 }, target);
