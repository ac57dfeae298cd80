import { beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../lib/log.ts';
import { SETTINGS } from '../../settings/catalogue.ts';
import type { Loaded } from '../runners/runner.ts';
import { containerLaunch, workerLaunch } from '../testing/launches.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { currentOf } from '../testing/memory.ts';
import { slotConfig } from '../testing/owner-bench.ts';
import { ScriptedRunner } from '../testing/scripted-runner.ts';
import { OwnerEffects } from './controller-effects.ts';

const config = slotConfig('agent');
const loaded: Loaded = { ...(currentOf('cpu').loaded as Loaded), origin: 'http://127.0.0.1:1' };

let told: string[];
let leaving: string | null;
let gpu: string | null;
let worker: ScriptedRunner;
let container: ScriptedRunner;
let effects: OwnerEffects;
const tell = (word: string) => () => void told.push(word);
beforeEach(() => {
  told = [];
  leaving = null;
  gpu = null;
  worker = new ScriptedRunner();
  container = new ScriptedRunner();
  effects = new OwnerEffects({
    clock: new ManualClock(),
    log: createLog({ level: 'silent', write: () => {} }),
    settings: { value: (name) => SETTINGS[name].default as never },
    runners: { worker, container, process: worker, attach: worker },
    ask: async (_, { path }) => {
      told.push(`ask ${path}`);
      return { status: 500, body: '' };
    },
    watchPace: undefined,
    kept: { started: (slot) => void told.push(`${slot} takes up its engine`) },
    set: { leaves: (name) => name === leaving },
    models: { of: () => null },
    loads: {
      admit: ({ name }, asked) => {
        told.push(`${name} asks for memory${asked ? '' : ' by itself'}`);
        return { kind: 'wait', for: ['other'] };
      },
      leave: (slot) => void told.push(`${slot} leaves the line`),
      changed: tell('the line looks again'),
      ready: tell('ready'),
      served: tell('served'),
      ended: tell('ended'),
    },
    works: { heardWith: ({ ready, served, ended }) => ({ ready, served, ended, failed: tell('failed') }) },
    announcer: { changed: (slot) => void told.push(`${slot} is announced`) },
    secrets: () => [],
    gpuNote: () => gpu,
  });
});

describe('a load', () => {
  it('asks for memory, and whether somebody waits for it is said', () => {
    const agent = effects.of('agent');
    expect(agent.admit(config, true)).toEqual({ kind: 'wait', for: ['other'] });
    agent.admit(config, false);
    agent.leaveLine();
    expect(told).toEqual([
      'agent asks for memory',
      'agent asks for memory by itself',
      'agent leaves the line',
    ]);
  });

  it('of a slot that was made anew waits for the engine of the removed one, and for that alone', () => {
    leaving = 'agent';
    expect(effects.of('agent').admit(config, true)).toEqual({ kind: 'wait', for: ['agent'] });
    expect(told).toEqual([]);
    effects.of('other').admit(slotConfig('other'), true);
    expect(told).toEqual(['other asks for memory']);
  });

  it('is waited for longer by who streams', () => {
    const { loadWaitMs } = effects.of('agent');
    expect([loadWaitMs(false), loadWaitMs(true)]).toEqual([
      SETTINGS.loadWaitS.default * 1000,
      SETTINGS.loadWaitStreamS.default * 1000,
    ]);
  });
});

describe('an engine', () => {
  it('is started by the runner that its launch names, which takes up one that was kept', () => {
    effects.of('boxed').start(config, containerLaunch());
    expect([worker.starts, container.starts]).toEqual([0, 1]);
    expect(told).toEqual(['boxed takes up its engine']);
  });

  it('is checked and watched as what its slot file names', async () => {
    const { check, signOfLife } = effects.of('agent');
    const checked = check(config, workerLaunch(), loaded, new AbortController().signal);
    await expect(checked).rejects.toThrow();
    expect(told).toEqual(['ask /health']);
    expect(signOfLife(config, workerLaunch())).toMatchObject({ whileServing: true });
    expect(signOfLife(slotConfig('v', 'engine = "vllm"'), workerLaunch())?.whileServing).toBe(false);
  });
});

it('a change is announced, and whoever waits for memory looks again', () => {
  effects.of('agent').changed();
  expect(told).toEqual(['agent is announced', 'the line looks again']);
});

it('what the hardware says of the GPU is that of the last look, for every slot', () => {
  const [one, two] = [effects.of('one'), effects.of('two')];
  gpu = 'Some GPU is not used.';
  expect(one.gpuNote()).toBeNull();
  effects.noteGpu();
  expect([one.gpuNote(), two.gpuNote()]).toEqual([gpu, gpu]);
});
