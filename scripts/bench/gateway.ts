/**
 * The gateway under test: starts the services of the daemon in the same way as `npm start`. The only difference: the engine of
 * every slot is the running model server at the first argument. The second argument is a file for a CPU profile from the
 * start to the end of the process.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { startServices } from '../../daemon/app/services.ts';
import { pinTickShape } from '../../daemon/lib/perf/pin-tick-shape.ts';
import { applyV8Flags } from '../../daemon/lib/perf/v8-flags.ts';
import type { Launch } from '../../daemon/slots/engines/engine.ts';
import type { QueryEngine } from '../../daemon/slots/lifecycle/health.ts';
import type { EngineExit, Runner, RunningEngine } from '../../daemon/slots/runners/runner.ts';
import { SLOWDOWN, slowDown } from './slowdown.ts';

const [origin = '', profile] = process.argv.slice(2);

function attach(launch: Launch): RunningEngine {
  const { promise: ended, resolve } = Promise.withResolvers<EngineExit>();
  const { context, parallel, threads } = launch;
  const headers = { authorization: 'Bearer key-of-the-engine' };
  return {
    pid: null,
    loaded: Promise.resolve({ origin, headers, device: 'cpu', context, parallel, threads }),
    ended,
    progress: () => null,
    lines: () => [],
    stop() {
      resolve({ code: 0, signal: null, reason: 'stopped' });
      return ended;
    },
  };
}

const models = new Set<string>();
const runner: Runner = {
  id: 'worker',
  start(launch) {
    models.add(launch.modelId);
    return attach(launch);
  },
};
/** Answers the readiness checks of the slots, because the mock does not implement them. */
const queryEngine: QueryEngine = async () => ({
  status: 200,
  body: JSON.stringify({ data: [...models].map((id) => ({ id, embedding: [1] })), choices: [] }),
});

/** Microseconds between two samples of the profiler. */
const SAMPLING_US = 200;

/** Starts a CPU profile. Returns a function that stops and writes it. */
async function startProfile(file: string): Promise<() => Promise<void>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_US });
  await session.post('Profiler.start');
  return async () => {
    const { profile: result } = await session.post('Profiler.stop');
    writeFileSync(file, JSON.stringify(result));
  };
}

applyV8Flags();
pinTickShape();
// A gateway collects garbage by itself some seconds after its start; the bench sends this signal as soon as the slots are
// ready, which may be before the start has ended.
process.on('SIGUSR2', () => globalThis.gc?.());
// The gate proves with it that it notices a slower gateway.
process.once('SIGWINCH', () => slowDown(SLOWDOWN));
const services = await startServices(process.env, null, { runner, queryEngine });
const writeProfile = profile === undefined ? null : await startProfile(profile);
process.once('SIGTERM', async () => {
  await writeProfile?.();
  await services.stop();
  process.exit(0);
});
