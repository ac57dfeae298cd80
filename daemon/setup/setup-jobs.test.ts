import { afterEach, describe, expect, test } from 'vitest';
import { type ErrorCode, GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { PullRecord, PullStateName } from '../contract/pulls.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { createLog } from '../lib/log.ts';
import type { RegisteredModel } from '../models/registered-model.ts';
import type { Slots } from '../slots/slots.ts';
import { SetupJobs } from './setup-jobs.ts';
import type { SetupJob } from './setup-state.ts';
import { StoredSetupState } from './stored-state.ts';

const log = createLog({ level: 'fatal' });
const CHAT = { slot: 'agent', model: 'maker/chat:Q8_0', name: 'Chat', context: null };
const EMBED = { slot: 'embed', model: 'maker/embed:Q8_0', name: 'Embed', context: 4096 };
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Bench {
  stored?: SetupJob[];
  /** Failures of the next requests to the hub, in order; null lets one succeed. */
  refusals?: (ErrorCode | null)[];
  /** How the next loads fail. */
  loads?: (ErrorCode | 'never' | null)[];
}

/** Setup jobs over fake downloads and slots. */
function bench({ stored = [], refusals = [], loads = [] }: Bench = {}) {
  const bus = new EventBus<GatewayEvents>();
  const state = new StoredSetupState({ get: () => null, set: () => {} });
  state.change({ work: stored });
  const jobs = new Map<string, PullRecord>();
  const requestedModels: string[] = [];
  const actions: string[] = [];
  const show = (id: string, change: Partial<PullRecord>) => {
    jobs.set(id, { ...(jobs.get(id) as PullRecord), ...change });
    bus.emit('pull', { pull: jobs.get(id) as PullRecord });
  };
  const load = async (slot: string) => {
    actions.push(`load ${slot}`);
    const how = loads.shift() ?? null;
    if (how === 'never') return new Promise<never>(() => {});
    if (how !== null) throw new GatewayError(how);
  };
  const files = new Map<string, string>();
  const removedModels = new Set<string>();
  const slots = {
    config: (slot: string) =>
      files.has(slot) ? { model: files.get(slot), auto: false, context: null } : undefined,
    get: () => undefined,
    create: async (slot: string, settings: { model: string; context?: number }) => {
      files.set(slot, settings.model);
      actions.push(`create ${slot} ${settings.model} ${settings.context ?? ''}`.trim());
    },
    load,
    restart: load,
  } as unknown as Slots;
  const setupJobs = new SetupJobs({
    state: state,
    log,
    bus,
    pulls: {
      list: () => [...jobs.values()],
      create: async ({ model }) => {
        requestedModels.push(model);
        const refusal = refusals.shift() ?? null;
        if (refusal !== null)
          throw new GatewayError(refusal, refusal === 'model.exists' ? { details: { model: 'here' } } : {});
        const record = { id: `job-${model}`, state: 'running', error: null, model: null } as PullRecord;
        jobs.set(record.id, record);
        return record;
      },
    },
    registry: {
      get: (id) =>
        removedModels.has(id)
          ? undefined
          : ({ id, type: id.includes('embed') ? 'embedding' : 'llm' } as RegisteredModel),
    },
    slots,
    write: (change) => change(),
    installed: () => null,
  });
  closers.push(() => setupJobs.close());
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const phases = () => Object.fromEntries(state.state.work.map(({ slot, phase }) => [slot, phase]));
  const errors = () => state.state.work.map(({ error }) => error?.code ?? null);
  return {
    setupJobs,
    state,
    show,
    requestedModels,
    actions,
    settle,
    phases,
    errors,
    jobs,
    files,
    removedModels,
  };
}

const idOf = ({ model }: typeof CHAT | typeof EMBED) => `job-${model}`;

test('a model is requested, downloaded, written to its slot and loaded', async () => {
  const { setupJobs, show, settle, phases, actions } = bench();
  setupJobs.begin([CHAT, EMBED]);
  expect(phases()).toEqual({ agent: 'asking', embed: 'asking' });
  await settle();
  expect(phases()).toEqual({ agent: 'pulling', embed: 'pulling' });
  show(idOf(EMBED), { state: 'done', model: 'embed-id' });
  await settle();
  expect(phases()).toEqual({ agent: 'pulling', embed: 'ready' });
  expect(actions).toEqual(['create embed embed-id 4096', 'load embed']);
});

describe('repeated requests', () => {
  async function pulledBench() {
    const one = bench();
    one.setupJobs.begin([CHAT]);
    await one.settle();
    one.show(idOf(CHAT), { state: 'done', model: 'chat-id' });
    await one.settle();
    expect(one.phases()).toEqual({ agent: 'ready' });
    return one;
  }

  test('do not repeat a completed download', async () => {
    const { setupJobs, settle, phases, requestedModels } = await pulledBench();
    setupJobs.begin([CHAT]);
    await settle();
    expect([phases(), requestedModels.length]).toEqual([{ agent: 'ready' }, 1]);
  });

  test.each([
    ['model', ({ removedModels }: ReturnType<typeof bench>) => removedModels.add('chat-id')],
    ['slot', ({ files }: ReturnType<typeof bench>) => files.delete('agent')],
  ] as const)('download again after the %s was removed', async (_, removed) => {
    const one = await pulledBench();
    removed(one);
    expect(one.state.state.work.map((work) => one.setupJobs.isCurrent(work))).toEqual([false]);
    one.setupJobs.begin([CHAT]);
    await one.settle();
    expect([one.phases(), one.requestedModels.length]).toEqual([{ agent: 'pulling' }, 2]);
    expect(one.state.state.work.map((work) => one.setupJobs.isCurrent(work))).toEqual([true]);
  });
});

describe('failures', () => {
  test.each(['pull.no_space', 'pull.gated', 'pull.not_found', 'pull.too_many'] satisfies ErrorCode[])(
    '%s stops only its own model, and is retried on demand',
    async (code) => {
      const { setupJobs, settle, phases, errors } = bench({ refusals: [code] });
      setupJobs.begin([CHAT, EMBED]);
      await settle();
      expect([phases(), errors()]).toEqual([{ agent: 'failed', embed: 'pulling' }, [code, null]]);
      setupJobs.begin([CHAT]);
      await settle();
      expect([phases(), errors()]).toEqual([{ agent: 'pulling', embed: 'pulling' }, [null, null]]);
    },
  );

  test('an unreachable hub is requested once per round', async () => {
    const { setupJobs, settle, phases, requestedModels } = bench({ refusals: ['pull.hub_unreachable'] });
    setupJobs.begin([CHAT, EMBED]);
    await settle();
    expect([phases(), requestedModels.length]).toEqual([{ agent: 'failed', embed: 'failed' }, 1]);
    setupJobs.begin([CHAT, EMBED]);
    await settle();
    expect([phases(), requestedModels.length]).toEqual([{ agent: 'pulling', embed: 'pulling' }, 3]);
  });

  test('an installed model is loaded without a download', async () => {
    const { setupJobs, settle, phases, actions } = bench({ refusals: ['model.exists'] });
    setupJobs.begin([CHAT]);
    await settle();
    expect([phases(), actions]).toEqual([{ agent: 'ready' }, ['create agent here', 'load agent']]);
  });

  test.each([
    ['failed', 'pull.checksum_mismatch'],
    ['cancelled', 'pull.state'],
  ] satisfies [PullStateName, string][])('a download that is %s, and resumes later', async (state, code) => {
    const { setupJobs, show, settle, phases, errors } = bench();
    setupJobs.begin([CHAT]);
    await settle();
    show(idOf(CHAT), { state, error: state === 'failed' ? { code, message: 'x', advice: null } : null });
    expect([phases(), errors()]).toEqual([{ agent: 'failed' }, [code]]);
    show(idOf(CHAT), { state: 'running', error: null });
    expect([phases(), errors()]).toEqual([{ agent: 'pulling' }, [null]]);
    show(idOf(CHAT), { state: 'done', model: 'chat-id' });
    await settle();
    expect(phases()).toEqual({ agent: 'ready' });
  });

  test('a load that fails keeps the downloaded model', async () => {
    const { setupJobs, show, settle, phases, errors } = bench({ loads: ['slot.no_memory'] });
    setupJobs.begin([CHAT]);
    await settle();
    show(idOf(CHAT), { state: 'done', model: 'chat-id' });
    await settle();
    expect([phases(), errors()]).toEqual([{ agent: 'failed' }, ['slot.no_memory']]);
  });

  test('a slot that was assigned another model in the meantime is not changed', async () => {
    const { setupJobs, settle, state } = bench();
    setupJobs.begin([CHAT]);
    setupJobs.begin([{ ...CHAT, model: 'maker/other:Q8_0' }]);
    await settle();
    expect(state.job('agent')).toMatchObject({ phase: 'pulling', pull: 'job-maker/other:Q8_0' });
  });
});

describe('after a restart', () => {
  const earlier = (change: Partial<SetupJob>): SetupJob[] => [
    { ...CHAT, phase: 'asking', pull: null, modelId: null, error: null, ...change },
  ];

  test.each([
    ['asking', {}, 'pulling'],
    ['pulling, and its download was removed', { phase: 'pulling', pull: 'gone' }, 'failed'],
    ['loading', { phase: 'loading', modelId: 'chat-id' }, 'ready'],
    ['ready', { phase: 'ready', modelId: 'chat-id' }, 'ready'],
    ['failed', { phase: 'failed', error: { code: 'x', message: 'x' } }, 'failed'],
  ] as [string, Partial<SetupJob>, string][])('a job that was %s', async (_, change, phase) => {
    const { settle, phases } = bench({ stored: earlier(change) });
    await settle();
    expect(phases()).toEqual({ agent: phase });
  });

  test('an interruption by a stop is not a failure', async () => {
    const { setupJobs, settle, phases } = bench({
      stored: earlier({ phase: 'loading', modelId: 'c' }),
      loads: ['never'],
    });
    await settle();
    setupJobs.close();
    await settle();
    expect(phases()).toEqual({ agent: 'loading' });
  });
});
