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
  kept?: SetupJob[];
  /** Failures of the next requests to the hub, in order; null lets one succeed. */
  refusals?: (ErrorCode | null)[];
  /** How the next loads fail. */
  loads?: (ErrorCode | 'never' | null)[];
}

/** Setup jobs over fake downloads and slots. */
function bench({ kept = [], refusals = [], loads = [] }: Bench = {}) {
  const bus = new EventBus<GatewayEvents>();
  const state = new StoredSetupState({ get: () => null, set: () => {} });
  state.change({ work: kept });
  const jobs = new Map<string, PullRecord>();
  const asked: string[] = [];
  const did: string[] = [];
  const show = (id: string, change: Partial<PullRecord>) => {
    jobs.set(id, { ...(jobs.get(id) as PullRecord), ...change });
    bus.emit('pull', { pull: jobs.get(id) as PullRecord });
  };
  const load = async (slot: string) => {
    did.push(`load ${slot}`);
    const how = loads.shift() ?? null;
    if (how === 'never') return new Promise<never>(() => {});
    if (how !== null) throw new GatewayError(how);
  };
  const files = new Map<string, string>();
  const gone = new Set<string>();
  const slots = {
    config: (slot: string) =>
      files.has(slot) ? { model: files.get(slot), auto: false, context: null } : undefined,
    get: () => undefined,
    create: async (slot: string, settings: { model: string; context?: number }) => {
      files.set(slot, settings.model);
      did.push(`create ${slot} ${settings.model} ${settings.context ?? ''}`.trim());
    },
    load,
    restart: load,
  } as unknown as Slots;
  const works = new SetupJobs({
    state: state,
    log,
    bus,
    pulls: {
      list: () => [...jobs.values()],
      create: async ({ model }) => {
        asked.push(model);
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
        gone.has(id)
          ? undefined
          : ({ id, type: id.includes('embed') ? 'embedding' : 'llm' } as RegisteredModel),
    },
    slots,
    write: (change) => change(),
    installed: () => null,
  });
  closers.push(() => works.close());
  const settled = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const phases = () => Object.fromEntries(state.state.work.map(({ slot, phase }) => [slot, phase]));
  const errors = () => state.state.work.map(({ error }) => error?.code ?? null);
  return { works, state, show, asked, did, settled, phases, errors, jobs, files, gone };
}

const idOf = ({ model }: typeof CHAT | typeof EMBED) => `job-${model}`;

test('a model is requested, downloaded, written to its slot and loaded', async () => {
  const { works, show, settled, phases, did } = bench();
  works.begin([CHAT, EMBED]);
  expect(phases()).toEqual({ agent: 'asking', embed: 'asking' });
  await settled();
  expect(phases()).toEqual({ agent: 'pulling', embed: 'pulling' });
  show(idOf(EMBED), { state: 'done', model: 'embed-id' });
  await settled();
  expect(phases()).toEqual({ agent: 'pulling', embed: 'ready' });
  expect(did).toEqual(['create embed embed-id 4096', 'load embed']);
});

describe('the same is requested again', () => {
  async function brought() {
    const one = bench();
    one.works.begin([CHAT]);
    await one.settled();
    one.show(idOf(CHAT), { state: 'done', model: 'chat-id' });
    await one.settled();
    expect(one.phases()).toEqual({ agent: 'ready' });
    return one;
  }

  test('what is there stays so', async () => {
    const { works, settled, phases, asked } = await brought();
    works.begin([CHAT]);
    await settled();
    expect([phases(), asked.length]).toEqual([{ agent: 'ready' }, 1]);
  });

  test.each([
    ['model', ({ gone }: ReturnType<typeof bench>) => gone.add('chat-id')],
    ['slot', ({ files }: ReturnType<typeof bench>) => files.delete('agent')],
  ] as const)('a %s that was removed since is brought again', async (_, removed) => {
    const one = await brought();
    removed(one);
    expect(one.state.state.work.map((work) => one.works.isCurrent(work))).toEqual([false]);
    one.works.begin([CHAT]);
    await one.settled();
    expect([one.phases(), one.asked.length]).toEqual([{ agent: 'pulling' }, 2]);
    expect(one.state.state.work.map((work) => one.works.isCurrent(work))).toEqual([true]);
  });
});

describe('failures', () => {
  test.each(['pull.no_space', 'pull.gated', 'pull.not_found', 'pull.too_many'] satisfies ErrorCode[])(
    '%s stops its own model alone, and is tried again on demand',
    async (code) => {
      const { works, settled, phases, errors } = bench({ refusals: [code] });
      works.begin([CHAT, EMBED]);
      await settled();
      expect([phases(), errors()]).toEqual([{ agent: 'failed', embed: 'pulling' }, [code, null]]);
      works.begin([CHAT]);
      await settled();
      expect([phases(), errors()]).toEqual([{ agent: 'pulling', embed: 'pulling' }, [null, null]]);
    },
  );

  test('an unreachable hub is tried once per round', async () => {
    const { works, settled, phases, asked } = bench({ refusals: ['pull.hub_unreachable'] });
    works.begin([CHAT, EMBED]);
    await settled();
    expect([phases(), asked.length]).toEqual([{ agent: 'failed', embed: 'failed' }, 1]);
    works.begin([CHAT, EMBED]);
    await settled();
    expect([phases(), asked.length]).toEqual([{ agent: 'pulling', embed: 'pulling' }, 3]);
  });

  test('what was fetched before is loaded without a download', async () => {
    const { works, settled, phases, did } = bench({ refusals: ['model.exists'] });
    works.begin([CHAT]);
    await settled();
    expect([phases(), did]).toEqual([{ agent: 'ready' }, ['create agent here', 'load agent']]);
  });

  test.each([
    ['failed', 'pull.checksum_mismatch'],
    ['cancelled', 'pull.state'],
  ] satisfies [PullStateName, string][])('a download that is %s, and goes on later', async (state, code) => {
    const { works, show, settled, phases, errors } = bench();
    works.begin([CHAT]);
    await settled();
    show(idOf(CHAT), { state, error: state === 'failed' ? { code, message: 'x' } : null });
    expect([phases(), errors()]).toEqual([{ agent: 'failed' }, [code]]);
    show(idOf(CHAT), { state: 'running', error: null });
    expect([phases(), errors()]).toEqual([{ agent: 'pulling' }, [null]]);
    show(idOf(CHAT), { state: 'done', model: 'chat-id' });
    await settled();
    expect(phases()).toEqual({ agent: 'ready' });
  });

  test('a load that fails keeps the downloaded model', async () => {
    const { works, show, settled, phases, errors } = bench({ loads: ['slot.no_memory'] });
    works.begin([CHAT]);
    await settled();
    show(idOf(CHAT), { state: 'done', model: 'chat-id' });
    await settled();
    expect([phases(), errors()]).toEqual([{ agent: 'failed' }, ['slot.no_memory']]);
  });

  test('a slot that is meant for another model by now is not changed', async () => {
    const { works, settled, state } = bench();
    works.begin([CHAT]);
    works.begin([{ ...CHAT, model: 'maker/other:Q8_0' }]);
    await settled();
    expect(state.job('agent')).toMatchObject({ phase: 'pulling', pull: 'job-maker/other:Q8_0' });
  });
});

describe('after a restart', () => {
  const earlier = (change: Partial<SetupJob>): SetupJob[] => [
    { ...CHAT, phase: 'asking', pull: null, modelId: null, error: null, ...change },
  ];

  test.each([
    ['asking', {}, 'pulling'],
    ['pulling, and the download is gone', { phase: 'pulling', pull: 'gone' }, 'failed'],
    ['loading', { phase: 'loading', modelId: 'chat-id' }, 'ready'],
    ['ready', { phase: 'ready', modelId: 'chat-id' }, 'ready'],
    ['failed', { phase: 'failed', error: { code: 'x', message: 'x' } }, 'failed'],
  ] as [string, Partial<SetupJob>, string][])('what was %s', async (_, change, phase) => {
    const { settled, phases } = bench({ kept: earlier(change) });
    await settled();
    expect(phases()).toEqual({ agent: phase });
  });

  test('an interruption by a stop is not a failure', async () => {
    const { works, settled, phases } = bench({
      kept: earlier({ phase: 'loading', modelId: 'c' }),
      loads: ['never'],
    });
    await settled();
    works.close();
    await settled();
    expect(phases()).toEqual({ agent: 'loading' });
  });
});
