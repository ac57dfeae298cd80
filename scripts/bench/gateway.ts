/**
 * The gateway under test: the services of the daemon, started as `npm start` starts them. The only difference is that
 * every slot's engine is a model server that runs already, at the address given as the argument.
 */
import { startServices } from '../../daemon/services.ts';
import type { Launch } from '../../daemon/slots/engines/engine.ts';
import type { AskEngine } from '../../daemon/slots/health.ts';
import type { Ended, Runner, Running } from '../../daemon/slots/runners/runner.ts';

const [origin = ''] = process.argv.slice(2);

function attach(launch: Launch): Running {
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
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
/** The mock is no engine that could be checked: what the checks look for is answered here. */
const ask: AskEngine = async () => ({
  status: 200,
  body: JSON.stringify({ data: [...models].map((id) => ({ id })), choices: [] }),
});

const services = await startServices(process.env, null, { runner, ask });
process.once('SIGTERM', () => void services.stop().then(() => process.exit(0)));
