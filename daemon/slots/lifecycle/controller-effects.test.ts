import { beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../lib/log.ts';
import { SETTINGS } from '../../settings/catalogue.ts';
import type { LoadedEngine } from '../runners/runner.ts';
import { SharedEngines } from '../sharing/shared-engines.ts';
import { slotConfig } from '../testing/controller-bench.ts';
import { containerLaunch, workerLaunch } from '../testing/launches.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { currentOf } from '../testing/memory.ts';
import { ScriptedRunner } from '../testing/scripted-runner.ts';
import { ControllerEffects } from './controller-effects.ts';

const config = slotConfig('agent');
const loaded: LoadedEngine = { ...(currentOf('cpu').loaded as LoadedEngine), origin: 'http://127.0.0.1:1' };

let log: string[];
let leaving: string | null;
let gpu: string | null;
let worker: ScriptedRunner;
let container: ScriptedRunner;
let effects: ControllerEffects;
const logged = (word: string) => () => void log.push(word);
beforeEach(() => {
  log = [];
  leaving = null;
  gpu = null;
  worker = new ScriptedRunner();
  container = new ScriptedRunner();
  effects = new ControllerEffects({
    clock: new ManualClock(),
    log: createLog({ level: 'silent', write: () => {} }),
    settings: { value: (name) => SETTINGS[name].default as never },
    runners: { worker, container, process: worker, attach: worker },
    query: async (_, { path }) => {
      log.push(`query ${path}`);
      return { status: 500, body: '' };
    },
    watchPace: undefined,
    adoption: { started: (slot) => void log.push(`${slot} adopts its engine`) },
    set: {
      isLeaving: (name) => name === leaving,
      get: () => undefined,
      sharing: new SharedEngines({ all: () => [], onJoined: () => {} }),
    },
    models: { of: () => null },
    admission: {
      admit: ({ name }, isRequested) => {
        log.push(`${name} requests memory${isRequested ? '' : ' automatically'}`);
        return { kind: 'wait', for: ['other'] };
      },
      withdraw: (slot) => void log.push(`${slot} is withdrawn`),
      changed: logged('the queue is rechecked'),
      ready: logged('ready'),
      serving: logged('serving'),
      served: logged('served'),
      ended: logged('ended'),
    },
    events: {
      lifecycleHooks: ({ ready, serving, served, ended }) => ({
        ...{ ready, serving, served, ended },
        failed: logged('failed'),
      }),
    },
    changeNotifier: { changed: (slot) => void log.push(`${slot} is notified`) },
    secrets: () => [],
    gpuNote: () => gpu,
  });
});

describe('a load', () => {
  it('requests memory and passes on whether a caller waits for it', () => {
    const agent = effects.of('agent');
    expect(agent.admit(config, true)).toEqual({ kind: 'wait', for: ['other'] });
    agent.admit(config, false);
    agent.withdrawLoad();
    expect(log).toEqual([
      'agent requests memory',
      'agent requests memory automatically',
      'agent is withdrawn',
    ]);
  });

  it('of a re-created slot waits for the engine of the removed one only', () => {
    leaving = 'agent';
    expect(effects.of('agent').admit(config, true)).toEqual({ kind: 'wait', for: ['agent'] });
    expect(log).toEqual([]);
    effects.of('other').admit(slotConfig('other'), true);
    expect(log).toEqual(['other requests memory']);
  });

  it('may be awaited longer by streaming callers', () => {
    const { loadWaitMs } = effects.of('agent');
    expect([loadWaitMs(false), loadWaitMs(true)]).toEqual([
      SETTINGS.loadWaitS.default * 1000,
      SETTINGS.loadWaitStreamS.default * 1000,
    ]);
  });
});

describe('an engine', () => {
  it('is started by the runner of its launch, which marks an adoption as used', () => {
    effects.of('boxed').start(config, containerLaunch());
    expect([worker.starts, container.starts]).toEqual([0, 1]);
    expect(log).toEqual(['boxed adopts its engine']);
  });

  it('is checked and watched as the engine that its slot file names', async () => {
    const { check, livenessProbe } = effects.of('agent');
    const checked = check(config, workerLaunch(), loaded, new AbortController().signal);
    await expect(checked).rejects.toThrow();
    expect(log).toEqual(['query /health']);
    expect(livenessProbe(config, workerLaunch())).toMatchObject({ answersWhileServing: true });
    expect(livenessProbe(slotConfig('v', 'engine = "vllm"'), workerLaunch())?.answersWhileServing).toBe(
      false,
    );
  });
});

it('a change is notified, and waiting loads are rechecked', () => {
  effects.of('agent').changed();
  expect(log).toEqual(['agent is notified', 'the queue is rechecked']);
});

it('the GPU note is that of the last hardware probe, for every slot', () => {
  const [one, two] = [effects.of('one'), effects.of('two')];
  gpu = 'Some GPU is not used.';
  expect(one.gpuNote()).toBeNull();
  effects.refreshGpuNote();
  expect([one.gpuNote(), two.gpuNote()]).toEqual([gpu, gpu]);
});
