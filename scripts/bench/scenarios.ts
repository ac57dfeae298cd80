import { abortStreams } from './abort.ts';
import { chatBody, embeddingsBody, FORM_TYPE, formBody } from './bodies.ts';
import { type ClosedLoad, closedLoop } from './closed-loop.ts';
import { ATTACHED_VECTORS, TRANSCRIBER, VECTORS } from './gateway-files.ts';
import type { Machine } from './machine.ts';
import type { Figures } from './ratios.ts';
import { coldStart } from './start.ts';
import { type StreamsLoad, sseStreams } from './streams.ts';
import type { Target } from './targets.ts';

/** The environment of every scenario. */
export interface Stage {
  readonly machine: Machine;
  readonly direct: Target;
  readonly secs: number;
}

export type Scenario = (stage: Stage, target: Target) => Promise<Figures>;

export interface ScenarioRow {
  readonly run: Scenario;
  /**
   * `all`: the model server, nginx, llama-swap and the gateway. `fresh`: the model server, nginx and a newly started gateway,
   * whose memory above idle is that of the scenario alone. `ours`: the gateway, not started.
   */
  readonly targets: 'all' | 'fresh' | 'ours';
  /** Multiplies the requested rounds: small differences need more of them. */
  readonly times?: number;
}

const closed =
  (load: Omit<ClosedLoad, 'secs'>): Scenario =>
  ({ machine, secs }, target) =>
    closedLoop(machine, target, { ...load, secs });

const chat = (connections: number, bytes = 100, turns = 1): Scenario =>
  closed({ body: chatBody({ bytes, turns }), connections });

const embeddings = (model: string): Scenario =>
  closed({ path: '/v1/embeddings', body: embeddingsBody(model, 64), connections: 8 });

const RECORDING = 25 << 20;
const recordings: Scenario = (stage, target) => {
  const load = { path: '/v1/audio/transcriptions', type: FORM_TYPE, connections: 8 };
  // Eight recordings take long on a slow machine: a shorter run could end before the first response.
  const body = formBody(TRANSCRIBER, RECORDING);
  return closed({ ...load, body })({ ...stage, secs: 2 * stage.secs }, target);
};

const sse =
  (load: StreamsLoad): Scenario =>
  (_, target) =>
    sseStreams(target, load);

/** All scenarios in their order. */
export const SCENARIOS: Readonly<Record<string, ScenarioRow>> = {
  // Fast and slow periods of a machine last longer than three rounds.
  'chat c=1': { targets: 'all', run: chat(1), times: 3 },
  'chat c=16': { targets: 'all', run: chat(16), times: 3 },
  'chat 64KB c=16': { targets: 'all', run: chat(16, 64 << 10, 20) },
  'chat 4MB c=4': { targets: 'all', run: chat(4, 4 << 20, 59) },
  'embed 64 c=8': { targets: 'all', run: embeddings(VECTORS) },
  // An engine that the gateway does not know: its responses are checked, and converted where they differ.
  'embed 64 attached c=8': { targets: 'fresh', run: embeddings(ATTACHED_VECTORS) },
  'audio 25MB c=8': { targets: 'fresh', run: recordings },
  'sse x64': { targets: 'all', run: sse({ streams: 64, tokens: 100, everyUs: 20_000, spreadMs: 200 }) },
  'sse x256': { targets: 'all', run: sse({ streams: 256, tokens: 60, everyUs: 50_000, spreadMs: 500 }) },
  'sse x1000': {
    targets: 'fresh',
    run: sse({ streams: 1_000, tokens: 40, everyUs: 50_000, spreadMs: 1_000 }),
  },
  abort: { targets: 'all', run: ({ direct }, target) => abortStreams(target, direct) },
  start: { targets: 'ours', run: ({ machine }) => coldStart(machine) },
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
export async function warmUp(stage: Stage, target: Target): Promise<void> {
  for (let [sec, requests] = [0, 0]; sec < WARM_SECS && requests < WARM_REQUESTS * stage.secs; sec++) {
    requests += (await chat(8)({ ...stage, secs: 1 }, target)).rps ?? 0;
  }
}
