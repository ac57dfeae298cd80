import { chatBody, embeddingsBody, FORM_TYPE, formBody } from './bodies.ts';
import type { ClosedLoad } from './closed-load.ts';
import { ATTACHED_VECTORS, TRANSCRIBER, VECTORS } from './gateway-under-test.ts';
import { abortStreams } from './load-abort.ts';
import { closedLoop, type Figures } from './load-closed.ts';
import { measureDisconnects, type Phase } from './load-disconnect.ts';
import { GROWING_BODY, GROWING_HISTORY, growth } from './load-growth.ts';
import { overhead } from './load-overhead.ts';
import { slowReaders } from './load-slow.ts';
import { type SseLoad, sseStreams } from './load-sse.ts';
import { stalls } from './load-stall.ts';
import { coldStart } from './load-start.ts';
import { svcctlCommands } from './load-svcctl.ts';
import { type TokenLoad, tokenStreams } from './load-tokens.ts';
import type { Machine } from './machine.ts';
import type { GroupName } from './participants.ts';
import type { Target } from './targets.ts';

/** The environment of every scenario. */
export interface Stage {
  readonly machine: Machine;
  readonly direct: Target;
  readonly secs: number;
}

export type Scenario = (stage: Stage, target: Target) => Promise<Figures>;

export interface ScenarioRow {
  readonly group: GroupName;
  readonly run: Scenario;
  /** Multiplies the requested rounds: small differences need more of them. */
  readonly times?: number;
}

const closed =
  (load: Omit<ClosedLoad, 'secs'>): Scenario =>
  ({ machine, secs }, target) =>
    closedLoop(machine, target, { ...load, secs });

const chat = (connections: number, bytes = 100, turns = 1): Scenario =>
  closed({ body: chatBody({ bytes, turns }), connections });

const embeddings = (connections: number, texts: number, model: string): Scenario =>
  closed({ path: '/v1/embeddings', body: embeddingsBody(model, texts), connections });

const RECORDING = 25 << 20;
/** Created on first use. */
let recording: Buffer | null = null;
const recordings: Scenario = (stage, target) => {
  recording ??= formBody(TRANSCRIBER, RECORDING);
  const load = { path: '/v1/audio/transcriptions', type: FORM_TYPE, body: recording, connections: 8 };
  // Eight recordings take long on a slow machine: a shorter run could end before the first response.
  return closed(load)({ ...stage, secs: 2 * stage.secs }, target);
};

/** Runs a scenario for half the time. */
const half =
  (run: Scenario): Scenario =>
  (stage, target) =>
    run({ ...stage, secs: Math.ceil(stage.secs / 2) }, target);

const sse =
  (load: SseLoad): Scenario =>
  (_, target) =>
    sseStreams(target, load);

const tokens = (load: TokenLoad): ScenarioRow => ({
  group: 'engines',
  run: (_, target) => tokenStreams(target, load),
});

const disconnectScenario = (phase: Phase): ScenarioRow => ({
  group: 'disconnect',
  run: (_, target) => measureDisconnects(target, phase),
});

const path = (run: Scenario): ScenarioRow => ({ group: 'path', run });
const peers = (run: Scenario): ScenarioRow => ({ group: 'peers', run });
const chats = (run: Scenario): ScenarioRow => ({ group: 'chats', run });
const fresh = (run: Scenario): ScenarioRow => ({ group: 'fresh', run });

/** All scenarios in their order. */
export const SCENARIOS: Readonly<Record<string, ScenarioRow>> = {
  // Fast and slow periods of a machine last longer than three rounds.
  'chat c=1': { ...path(chat(1)), times: 3 },
  'chat c=16': { ...chats(chat(16)), times: 3 },
  'chat c=64': { ...chats(chat(64)), times: 3 },
  'chat 4MB c=4': peers(chat(4, 4 << 20, 59)),
  'msgs 2000 c=4': path(chat(4, 200 * 2000, 2000)),
  'grow bytes': path(({ machine }, target) => growth(machine, target, GROWING_BODY)),
  'grow msgs': path(({ machine }, target) => growth(machine, target, GROWING_HISTORY)),
  'embed 1 c=16': path(
    closed({
      path: '/v1/embeddings',
      body: JSON.stringify({ model: VECTORS, input: 'hello world' }),
      connections: 16,
    }),
  ),
  'embed 64 c=8': path(embeddings(8, 64, VECTORS)),
  // An engine that the gateway does not know: its responses are checked, and converted where they differ.
  'embed 64 attached c=8': path(embeddings(8, 64, ATTACHED_VECTORS)),
  'audio 25MB c=8': fresh(recordings),
  'sse x1 20ms': path(sse({ streams: 1, tokens: 100, everyUs: 20_000 })),
  'sse x64 20ms': peers(sse({ streams: 64, tokens: 100, everyUs: 20_000, spreadMs: 200 })),
  'sse x200 50ms': path(sse({ streams: 200, tokens: 60, everyUs: 50_000, spreadMs: 500 })),
  'sse x1000 50ms': fresh(sse({ streams: 1_000, tokens: 40, everyUs: 50_000, spreadMs: 1_000 })),
  'stall 6MB': path((_, target) => stalls(target)),
  'slow readers': fresh(({ direct }, target) => slowReaders(target, direct)),
  abort: peers(({ direct }, target) => abortStreams(target, direct)),
  overhead: path(({ secs }, target) => overhead(target, secs)),
  // The differences are smaller than the drift of a machine: many short turns, so that drift affects all sides alike.
  'side load c=16': { group: 'side-load', run: half(chat(16)), times: 8 },
  start: { group: 'start', run: ({ machine }) => coldStart(machine) },
  svcctl: { group: 'alone', run: (_, target) => svcctlCommands(target) },
  'engine x1': tokens({ requests: 1, tokens: 64, prompt: 16 }),
  'engine x4': tokens({ requests: 4, tokens: 64, prompt: 16 }),
  'engine prompt': tokens({ requests: 1, tokens: 1, prompt: 2_000 }),
  'leave stream': disconnectScenario('stream'),
  'leave whole': disconnectScenario('whole'),
  'leave prefill': disconnectScenario('prefill'),
  'leave queued': disconnectScenario('queued'),
  'leave loading': disconnectScenario('loading'),
};

/** Returns the names that start with one of `only`, in order; all names when `only` is empty. */
export function chosen(only: readonly string[]): string[] {
  const names = Object.keys(SCENARIOS);
  return only.length === 0 ? names : names.filter((name) => only.some((start) => name.startsWith(start)));
}

/**
 * Requests that warm a target, for each second of a run, and the time limit of the warm-up. V8 keeps recompiling the path of a
 * chat during the first 50,000 requests or so, which is the warm-up of a run of 2 s.
 */
const WARM_REQUESTS = 25_000;
const WARM_SECS = 15;

/**
 * Runs without measuring, to warm caches, connections and the compiler of the target. Counts requests, because on a busy
 * machine a fixed time would allow too few.
 */
export const warmUp: Scenario = async (stage, target) => {
  let figures: Figures = {};
  for (let [sec, requests] = [0, 0]; sec < WARM_SECS && requests < WARM_REQUESTS * stage.secs; sec++) {
    figures = await chat(8)({ ...stage, secs: 1 }, target);
    requests += figures.rps ?? 0;
  }
  return figures;
};
