import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SlotModel } from './engines/engine.ts';
import type { Slots } from './slots.ts';
import { AdminBench, GIB } from './testing/admin-bench.ts';
import { settle } from './testing/manual-clock.ts';
import { refusalOf } from './testing/refusal-of.ts';

let bench: AdminBench;
beforeEach(() => {
  bench = new AdminBench();
});
afterEach(() => bench.remove());

describe('swap', () => {
  const toOther = (slots: Slots, persist?: boolean) => slots.swap('w', { modelId: 'other', persist });

  it('drains, loads the other model, and writes only that into the file', async () => {
    bench.slotFile('w', '# mine\nmodel = "small" # was good\nfoo = 1\n');
    const slots = bench.openAdmin();
    const lease = await slots.ensureReady('w', { signal: new AbortController().signal, stream: false });
    const swapped = toOther(slots);
    await vi.waitFor(() => expect(slots.get('w')?.state).toBe('draining'), 20_000);
    expect(slots.get('w')).toMatchObject({ state: 'draining', model: 'small' });
    lease.release();
    expect(await swapped).toMatchObject({ state: 'ready', model: 'other' });
    expect(bench.text('w')).toBe('# mine\nmodel = "other" # was good\nfoo = 1\n');
  });

  it('persist false: for this run only, until the file names another model', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    expect(await toOther(slots, false)).toMatchObject({ state: 'ready', model: 'other' });
    expect(bench.text('w')).toBe('model = "small"\n');
    await slots.unload('w');
    slots.reload();
    expect(await slots.load('w')).toMatchObject({ model: 'other' });
    await slots.change('w', { model: 'huge' });
    expect(slots.config('w')?.model).toBe('huge');
  });

  it('works for the built-in slot and for an automatic one', async () => {
    bench.bindable = [{ id: 'other', type: 'llm', created: 1 }];
    const slots = bench.openAdmin();
    await settle();
    expect(await slots.swap('agent', { modelId: 'other' })).toMatchObject({ model: 'other' });
    expect(bench.text('agent')).toBe('model = "other"\n');
    await bench.clock.advance(200);
    expect(slots.list().some((slot) => slot.auto && slot.model === 'other')).toBe(false);
  });

  it('gives the old model of an automatic slot another slot', async () => {
    bench.bindable = [{ id: 'other', type: 'llm', created: 1 }];
    const slots = bench.openAdmin();
    const auto = slots.list().find((slot) => slot.auto)?.name as string;
    await slots.swap(auto, { modelId: 'small', persist: false });
    expect(slots.get(auto)).toMatchObject({ model: 'small', state: 'ready' });
    expect(slots.list().filter(({ model }) => model === 'other')).toHaveLength(1);
    expect(existsSync(bench.fileOf(auto))).toBe(false);
  });

  it('a later file of an automatic slot names its own model, and the swap still overrides it', async () => {
    bench.bindable = [{ id: 'other', type: 'llm', created: 1 }];
    const slots = bench.openAdmin();
    const auto = slots.list().find((slot) => slot.auto)?.name as string;
    await slots.swap(auto, { modelId: 'small', persist: false });
    await slots.change(auto, { pinned: true });
    expect(bench.text(auto)).toBe('type = "llm"\nmodel = "other"\npinned = true\n');
    expect(slots.get(auto)).toMatchObject({ auto: false, model: 'small', pinned: true });
    await slots.change(auto, { model: 'huge' });
    expect(slots.config(auto)?.model).toBe('huge');
  });

  it('both models have a slot during the swap, and one only afterwards', async () => {
    bench.bindable = ['small', 'other'].map((id) => ({ id, type: 'llm', created: 1 }));
    bench.slotFile('agent', 'autoload = false\nmodel = "huge"\n');
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
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
    await bench.clock.advance(200);
    expect(holders('small').map(({ auto }) => auto)).toEqual([true]);
    expect(holders('other').map(({ name }) => name)).toEqual(['w']);
  });

  it('to the running model does not restart', async () => {
    bench.slotFile('w', 'model = "other"\n');
    const slots = bench.openAdmin();
    await slots.load('w');
    const { starts } = bench.runner;
    expect(await toOther(slots)).toMatchObject({ state: 'ready' });
    expect(bench.runner.starts).toBe(starts);
  });

  it.each([
    ['an unknown model', 'gone', 'model.not_found'],
    ['a model of another type', 'vectors', 'dispatch.capability_mismatch'],
    ['a model that could never fit', 'huge', 'slot.no_memory'],
  ])('%s is refused before anything has changed', async (_, modelId, code) => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    await slots.load('w');
    expect((await refusalOf(slots.swap('w', { modelId }))).code).toBe(code);
    expect(slots.get('w')).toMatchObject({ state: 'ready', model: 'small' });
    expect(bench.text('w')).toBe('model = "small"\n');
  });

  it('refuses a disabled and an unknown slot', async () => {
    bench.slotFile('w', 'enabled = false\n');
    const slots = bench.openAdmin();
    expect((await refusalOf(toOther(slots))).code).toBe('slot.disabled');
    expect((await refusalOf(slots.swap('missing', { modelId: 'other' }))).code).toBe('slot.not_found');
  });

  it('a failed load is reported to the caller, and the slot keeps the requested model', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    await slots.load('w');
    bench.runner.loadsAtOnce = false;
    const swapped = toOther(slots);
    swapped.catch(() => {});
    await vi.waitFor(() => expect(bench.runner.last.launch.modelId).toBe('other'), 20_000);
    bench.runner.last.end('The weights are torn.');
    expect((await refusalOf(swapped)).options.details).toMatchObject({ reason: 'The weights are torn.' });
    expect(slots.get('w')).toMatchObject({ state: 'error', model: 'other', failure: { failures: 1 } });
    expect(bench.text('w')).toBe('model = "other"\n');
  });

  it('the last of two concurrent swaps takes effect', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    await Promise.allSettled([toOther(slots), slots.swap('w', { modelId: 'small' })]);
    expect(slots.get('w')).toMatchObject({ state: 'ready', model: 'small' });
    expect(bench.text('w')).toBe('model = "small"\n');
  });
});

describe('plan', () => {
  it('shows the launch with where each value comes from, and starts nothing', () => {
    bench.slotFile('w', 'model = "small"\ncontext = 256\n[env]\nSECRET = "s3cret"\n');
    const slots = bench.openAdmin();
    const { starts } = bench.runner;
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
    expect(bench.runner.starts).toBe(starts);
  });

  it('for another model shows its launch, or why it is refused', () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    expect(slots.plan('w', { modelId: 'other' })).toMatchObject({
      model: 'other',
      launch: { model_id: { from: 'request' } },
    });
    expect(slots.plan('w', { modelId: 'huge' }).forecast.outcome).toBe('refused');
    expect(() => slots.plan('w', { modelId: 'gone' })).toThrow(/no such model/);
    expect(() => slots.plan('w', { modelId: 'vectors' })).toThrow(/embedding model/);
    expect(() => slots.plan('missing')).toThrow(/no slot/);
  });

  it('lists the slots to evict, and that a busy one is waited for', async () => {
    bench.slotFile('w', 'model = "other"\n');
    const slots = bench.openAdmin();
    await bench.clock.advance(1_000);
    bench.memory = 600 * 1024 ** 2;
    expect(slots.plan('w').forecast).toMatchObject({
      outcome: 'refused',
      sum: { victims: [{ slot: 'agent' }] },
    });
    bench.models[0] = { ...(bench.models[0] as SlotModel), sizeBytes: 4 * GIB };
    bench.memory = 5 * GIB;
    await slots.restart('agent');
    bench.models[1] = { ...(bench.models[1] as SlotModel), sizeBytes: 2 * GIB };
    await bench.clock.advance(1_000);
    expect(slots.plan('w').forecast).toMatchObject({ outcome: 'evicts', evicts: ['agent'] });
    const lease = await slots.ensureReady('agent', { signal: new AbortController().signal, stream: false });
    expect(slots.plan('w').forecast).toMatchObject({ outcome: 'waits', evicts: ['agent'] });
    expect(slots.plan('agent').forecast).toMatchObject({ outcome: 'starts' });
    lease.release();
  });
});
