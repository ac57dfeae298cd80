import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileWriteError } from '../kit/atomic-file.ts';
import { ConfigEditError } from '../settings/config-file.ts';
import type { BindableModel } from './bindings.ts';
import type { SlotModel } from './engines/engine.ts';
import type { Slots } from './slots.ts';
import { ManualClock, settle } from './testing/manual-clock.ts';
import { MODEL } from './testing/owner-bench.ts';
import { refused } from './testing/refused.ts';
import { ScriptedRunner } from './testing/scripted-runner.ts';
import { SlotsBench } from './testing/slots-bench.ts';

const GIB = 1024 ** 3;
const MODELS: SlotModel[] = [
  { ...MODEL, id: 'small' },
  { ...MODEL, id: 'other' },
  { ...MODEL, id: 'huge', sizeBytes: 99 * GIB },
  { ...MODEL, id: 'vectors', type: 'embedding' },
];
let bench: SlotsBench;
let runner: ScriptedRunner;
let clock: ManualClock;
let bindable: BindableModel[];
beforeEach(() => {
  bench = new SlotsBench();
  runner = new ScriptedRunner();
  clock = new ManualClock();
  bindable = [];
});
afterEach(() => bench.remove());

const ask = async (_: unknown, { body }: { body?: unknown }) => {
  const { model = 'small' } = (body ?? {}) as { model?: string };
  const data = MODELS.map(({ id }) => ({ id, embedding: [1] }));
  return { status: 200, body: JSON.stringify({ model, data, choices: [{}] }) };
};
const open = (): Slots =>
  bench.open({
    runner,
    clock,
    ask,
    models: () => bindable,
    modelFor: ({ model, name }) =>
      MODELS.find(({ id }) => id === (model ?? (name === 'agent' ? 'small' : ''))) ?? null,
  });
const fileOf = (name: string) => join(bench.folders.config, 'slots', `${name}.toml`);
const text = (name: string) => readFileSync(fileOf(name), 'utf8');
const fields = async (promise: Promise<unknown>) => {
  const { code, options } = await refused(promise);
  return [code, ((options.details?.fields ?? []) as { path: string }[]).map(({ path }) => path)];
};

describe('create', () => {
  it('writes a file that only its owner reads, and the slot is there', async () => {
    const slots = open();
    const record = await slots.create('writer', {
      model: 'other',
      parallel: 3,
      pinned: true,
      idle_unload: '5 min',
      voice: { speed: 1.5 },
    });
    expect(record).toMatchObject({
      name: 'writer',
      model: 'other',
      parallel: 3,
      pinned: true,
      state: 'offline',
    });
    expect(text('writer')).toBe(
      'model = "other"\nparallel = 3\npinned = true\nidle_unload = "5 min"\n\n[voice]\nspeed = 1.5\n',
    );
    expect(statSync(fileOf('writer')).mode & 0o777).toBe(0o600);
    expect(slots.config('writer')).toMatchObject({ idleUnloadS: 300, voice: { speed: 1.5 } });
  });

  it('makes the folder when it is not there', async () => {
    rmSync(join(bench.folders.config, 'slots'), { recursive: true });
    expect(await open().create('writer', { model: 'other' })).toMatchObject({ name: 'writer' });
  });

  it('409 for a name that is taken: by a slot, a built-in one, a broken file', async () => {
    bench.slotFile('there', '');
    bench.slotFile('broken', 'parallel = "many"');
    const slots = open();
    for (const name of ['there', 'agent', 'broken']) {
      expect((await refused(slots.create(name, {}))).code).toBe('slot.exists');
    }
    expect(text('broken')).toBe('parallel = "many"');
  });

  it('two at once: one is created, the other learns that it exists', async () => {
    const slots = open();
    const both = await Promise.allSettled([
      slots.create('w', { parallel: 1 }),
      slots.create('w', { parallel: 2 }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(text('w')).toBe('parallel = 1\n');
  });

  it.each([
    ['a bad name', 'Not A Name', {}, ['name']],
    ['a path as name', '../x', {}, ['name']],
    ['a wrong value', 'w', { parallel: 0 }, ['parallel']],
    [
      'several',
      'w',
      { parallel: 0, device: 'moon', idle_unload: 'soon' },
      ['device', 'parallel', 'idle_unload'],
    ],
    ['an engine that is not there', 'w', { engine: 'nope' }, ['engine']],
    ['a type that the engine does not serve', 'w', { engine: 'embedded', type: 'tts' as const }, ['type']],
    ['a device that it does not run on', 'w', { device: 'npu' }, ['device']],
  ])('422 for %s, and nothing is written', async (_, name, settings, paths) => {
    const slots = open();
    expect(await fields(slots.create(name, settings))).toEqual(['slot.invalid', paths]);
    expect(existsSync(fileOf('w'))).toBe(false);
  });
});

describe('change', () => {
  it('changes only what is named; comments and unknown keys stay', async () => {
    bench.slotFile('w', '# mine\nmodel = "small" # why\nlater = 1\n\n[voice] # v\nspeed = 1.0\n');
    const slots = open();
    await slots.change('w', { model: 'other', pinned: true, voice: { voice: 'a', speed: null } });
    expect(text('w')).toBe(
      '# mine\nmodel = "other" # why\nlater = 1\npinned = true\n\n[voice] # v\nvoice = "a"\n',
    );
    await slots.change('w', { model: null, voice: null });
    expect(text('w')).toBe('# mine\n# why\nlater = 1\npinned = true\n\n# v\n');
    expect(slots.config('w')).toMatchObject({ model: null, voice: null, pinned: true });
  });

  it('a running engine keeps its settings until its next start; disabling ends it', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = open();
    await slots.load('w');
    expect(await slots.change('w', { parallel: 5 })).toMatchObject({ state: 'ready', parallel: 2 });
    expect(await slots.restart('w')).toMatchObject({ parallel: 5 });
    await slots.change('w', { enabled: false });
    await settle();
    expect(slots.get('w')).toMatchObject({ enabled: false, state: 'offline' });
  });

  it('gives the built-in slot a file, and an automatic one a file that still serves its model', async () => {
    bindable = [
      { id: 'vectors', type: 'embedding', created: 1 },
      { id: 'other', type: 'llm', created: 1 },
    ];
    const slots = open();
    await slots.change('agent', { context: 256 });
    expect(text('agent')).toBe('context = 256\n');
    const auto = slots.list().find(({ model }) => model === 'other');
    expect(auto).toMatchObject({ auto: true });
    expect(await slots.change(auto?.name as string, { pinned: true })).toMatchObject({
      auto: false,
      model: 'other',
      pinned: true,
    });
    expect(text(auto?.name as string)).toBe('type = "llm"\nmodel = "other"\npinned = true\n');
  });

  it('mends a file with a wrong value, but not one that is no TOML', async () => {
    bench.slotFile('wrong', 'parallel = "many"\nmodel = "small"\n');
    bench.slotFile('torn', 'parallel = \n');
    const slots = open();
    expect(await fields(slots.change('wrong', { pinned: true }))).toEqual(['slot.invalid', ['parallel']]);
    expect(await slots.change('wrong', { parallel: 4 })).toMatchObject({ parallel: 4 });
    await expect(slots.change('torn', { parallel: 4 })).rejects.toThrow(ConfigEditError);
    expect(text('torn')).toBe('parallel = \n');
  });

  it('404 for nobody; a file that can not be written changes nothing', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = open();
    expect((await refused(slots.change('nobody', {}))).code).toBe('slot.not_found');
    rmSync(fileOf('w'));
    mkdirSync(fileOf('w'));
    await expect(slots.change('w', { parallel: 4 })).rejects.toThrow(FileWriteError);
    expect(slots.config('w')).toMatchObject({ parallel: 2 });
  });

  it('an edit by hand between is not lost', async () => {
    bench.slotFile('w', 'parallel = 1\n');
    const slots = open();
    writeFileSync(fileOf('w'), 'parallel = 1\n# by hand\n');
    await slots.change('w', { pinned: true });
    expect(text('w')).toBe('parallel = 1\npinned = true\n# by hand\n');
  });

  it('the mode of a file stays', async () => {
    bench.slotFile('w', 'parallel = 1\n');
    chmodSync(fileOf('w'), 0o640);
    await open().change('w', { pinned: true });
    expect(statSync(fileOf('w')).mode & 0o777).toBe(0o640);
  });
});

describe('remove', () => {
  it('deletes the file and resolves when the last answer is out and the engine has ended', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = open();
    const lease = await slots.ensureReady('w', { signal: new AbortController().signal, stream: false });
    let gone = false;
    const removed = slots.remove('w').then(() => {
      gone = true;
    });
    await vi.waitFor(() => expect(slots.get('w')).toBeUndefined(), 20_000);
    expect([slots.get('w'), existsSync(fileOf('w')), gone]).toEqual([undefined, false, false]);
    lease.release();
    await removed;
    expect(runner.last.over).toBe(true);
  });

  it('the built-in slot loses its file and goes back to its defaults', async () => {
    bench.slotFile('agent', 'parallel = 7\nmodel = "other"\n');
    const slots = open();
    await settle();
    expect(slots.get('agent')).toMatchObject({ state: 'ready', model: 'other' });
    await slots.remove('agent');
    expect(slots.get('agent')).toMatchObject({ state: 'offline', model: 'small', parallel: 2 });
    expect(await fields(slots.remove('agent'))).toEqual(['slot.invalid', ['name']]);
  });

  it('an automatic slot and nobody', async () => {
    bindable = [{ id: 'other', type: 'llm', created: 1 }];
    const slots = open();
    const auto = slots.list().find((slot) => slot.auto)?.name as string;
    expect(await fields(slots.remove(auto))).toEqual(['slot.invalid', ['name']]);
    expect((await refused(slots.remove('nobody'))).code).toBe('slot.not_found');
    expect((await refused(slots.remove('../../etc'))).code).toBe('slot.not_found');
  });

  it('a broken file', async () => {
    bench.slotFile('broken', 'x');
    const slots = open();
    await slots.remove('broken');
    expect(existsSync(fileOf('broken'))).toBe(false);
    expect(slots.problems()).toEqual([]);
  });
});

describe('swap', () => {
  const toOther = (slots: Slots, persist?: boolean) => slots.swap('w', { modelId: 'other', persist });

  it('drains, loads the other model, and writes it into the file without touching anything else', async () => {
    bench.slotFile('w', '# mine\nmodel = "small" # was good\nfoo = 1\n');
    const slots = open();
    const lease = await slots.ensureReady('w', { signal: new AbortController().signal, stream: false });
    const swapped = toOther(slots);
    await vi.waitFor(() => expect(slots.get('w')?.state).toBe('draining'), 20_000);
    expect(slots.get('w')).toMatchObject({ state: 'draining', model: 'small' });
    lease.release();
    expect(await swapped).toMatchObject({ state: 'ready', model: 'other' });
    expect(text('w')).toBe('# mine\nmodel = "other" # was good\nfoo = 1\n');
  });

  it('persist false: for this run only, until the file names another model', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = open();
    expect(await toOther(slots, false)).toMatchObject({ state: 'ready', model: 'other' });
    expect(text('w')).toBe('model = "small"\n');
    await slots.unload('w');
    slots.reload();
    expect(await slots.load('w')).toMatchObject({ model: 'other' });
    await slots.change('w', { model: 'huge' });
    expect(slots.config('w')?.model).toBe('huge');
  });

  it('works for the built-in slot and for an automatic one', async () => {
    bindable = [{ id: 'other', type: 'llm', created: 1 }];
    const slots = open();
    await settle();
    expect(await slots.swap('agent', { modelId: 'other' })).toMatchObject({ model: 'other' });
    expect(text('agent')).toBe('model = "other"\n');
    await clock.advance(200);
    expect(slots.list().some((slot) => slot.auto && slot.model === 'other')).toBe(false);
  });

  it('for an automatic slot, whose old model is bound to another one', async () => {
    bindable = [{ id: 'other', type: 'llm', created: 1 }];
    const slots = open();
    const auto = slots.list().find((slot) => slot.auto)?.name as string;
    await slots.swap(auto, { modelId: 'small', persist: false });
    expect(slots.get(auto)).toMatchObject({ model: 'small', state: 'ready' });
    expect(slots.list().filter(({ model }) => model === 'other')).toHaveLength(1);
    expect(existsSync(fileOf(auto))).toBe(false);
  });

  it('meanwhile each of the two models has a slot to answer to, and afterwards one only', async () => {
    bindable = ['small', 'other'].map((id) => ({ id, type: 'llm', created: 1 }));
    bench.slotFile('agent', 'autoload = false\nmodel = "huge"\n');
    bench.slotFile('w', 'model = "small"\n');
    const slots = open();
    const holders = (id: string) => slots.list().filter(({ model }) => model === id);
    await slots.load('w');
    const lease = await slots.ensureReady('w', { signal: new AbortController().signal, stream: false });
    const swapped = toOther(slots, false);
    await settle();
    expect(slots.get('w')).toMatchObject({ state: 'draining', model: 'small' });
    expect(holders('small').map(({ auto }) => auto)).toEqual([false, true]);
    expect(holders('other').map(({ auto }) => auto)).toEqual([true]);
    lease.release();
    await swapped;
    await clock.advance(200);
    expect(holders('small').map(({ auto }) => auto)).toEqual([true]);
    expect(holders('other').map(({ name }) => name)).toEqual(['w']);
  });

  it('to the model that runs is no restart', async () => {
    bench.slotFile('w', 'model = "other"\n');
    const slots = open();
    await slots.load('w');
    const { starts } = runner;
    expect(await toOther(slots)).toMatchObject({ state: 'ready' });
    expect(runner.starts).toBe(starts);
  });

  it.each([
    ['an unknown model', 'gone', 'model.not_found'],
    ['a model of another type', 'vectors', 'dispatch.capability_mismatch'],
    ['a model that could never fit', 'huge', 'slot.no_memory'],
  ])('%s is refused before anything has changed', async (_, modelId, code) => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = open();
    await slots.load('w');
    expect((await refused(slots.swap('w', { modelId }))).code).toBe(code);
    expect(slots.get('w')).toMatchObject({ state: 'ready', model: 'small' });
    expect(text('w')).toBe('model = "small"\n');
  });

  it('a disabled slot and nobody', async () => {
    bench.slotFile('w', 'enabled = false\n');
    const slots = open();
    expect((await refused(toOther(slots))).code).toBe('slot.disabled');
    expect((await refused(slots.swap('nobody', { modelId: 'other' }))).code).toBe('slot.not_found');
  });

  it('a load that fails: the caller learns why, and the slot holds what was asked for', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = open();
    await slots.load('w');
    runner.instant = false;
    const swapped = toOther(slots);
    swapped.catch(() => {});
    await vi.waitFor(() => expect(runner.last.launch.modelId).toBe('other'), 20_000);
    runner.last.end('The weights are torn.');
    expect((await refused(swapped)).options.details).toMatchObject({ reason: 'The weights are torn.' });
    expect(slots.get('w')).toMatchObject({ state: 'error', model: 'other', failure: { failures: 1 } });
    expect(text('w')).toBe('model = "other"\n');
  });

  it('the last of two wins', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = open();
    await Promise.allSettled([toOther(slots), slots.swap('w', { modelId: 'small' })]);
    expect(slots.get('w')).toMatchObject({ state: 'ready', model: 'small' });
    expect(text('w')).toBe('model = "small"\n');
  });
});

describe('plan', () => {
  it('shows the launch with where each value comes from, and starts nothing', () => {
    bench.slotFile('w', 'model = "small"\ncontext = 256\n[env]\nSECRET = "s3cret"\n');
    const slots = open();
    const { starts } = runner;
    const plan = slots.plan('w');
    expect(plan).toMatchObject({
      slot: 'w',
      engine: 'embedded',
      model: 'small',
      launch: {
        model_id: { value: 'small', from: 'file' },
        context: { value: 256, from: 'file' },
        parallel: { value: 2, from: 'default' },
        device: { value: 'auto', from: 'default' },
        threads: { from: 'probe' },
        env: { value: ['SECRET'], from: 'file' },
        batch: { from: 'engine' },
      },
      need: { source: 'estimated' },
      forecast: { outcome: 'starts', evicts: [] },
    });
    expect(JSON.stringify(plan)).not.toContain('s3cret');
    bench.slotFile('far', 'engine = "custom"\ncommand = ["/bin/x", "{port}"]\n[env]\nSECRET = "s3cret"\n');
    slots.reload();
    const program = slots.plan('far');
    expect(program).toMatchObject({ launch: { how: { value: { command: '/bin/x', env: ['SECRET'] } } } });
    expect(JSON.stringify(program)).not.toContain('s3cret');
    expect(runner.starts).toBe(starts);
  });

  it('for another model: what it would be, or why not', () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = open();
    expect(slots.plan('w', { modelId: 'other' })).toMatchObject({
      model: 'other',
      launch: { model_id: { from: 'request' } },
    });
    expect(slots.plan('w', { modelId: 'huge' }).forecast.outcome).toBe('refused');
    expect(() => slots.plan('w', { modelId: 'gone' })).toThrow(/no such model/);
    expect(() => slots.plan('w', { modelId: 'vectors' })).toThrow(/embedding model/);
    expect(() => slots.plan('nobody')).toThrow(/no slot/);
  });

  it('says who would leave, and that a busy one is waited for', async () => {
    bench.slotFile('w', 'model = "other"\n');
    const slots = open();
    await clock.advance(1_000);
    bench.memory = 600 * 1024 ** 2;
    expect(slots.plan('w').forecast).toMatchObject({
      outcome: 'refused',
      sum: { victims: [{ slot: 'agent' }] },
    });
    MODELS[0] = { ...(MODELS[0] as SlotModel), sizeBytes: 4 * GIB };
    bench.memory = 5 * GIB;
    await slots.restart('agent');
    MODELS[1] = { ...(MODELS[1] as SlotModel), sizeBytes: 2 * GIB };
    await clock.advance(1_000);
    expect(slots.plan('w').forecast).toMatchObject({ outcome: 'evicts', evicts: ['agent'] });
    const lease = await slots.ensureReady('agent', { signal: new AbortController().signal, stream: false });
    expect(slots.plan('w').forecast).toMatchObject({ outcome: 'waits', evicts: ['agent'] });
    expect(slots.plan('agent').forecast).toMatchObject({ outcome: 'starts' });
    lease.release();
  });
});
