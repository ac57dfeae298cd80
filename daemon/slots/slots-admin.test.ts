import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileWriteError } from '../lib/fs/atomic-file.ts';
import { ConfigEditError } from '../settings/config-file.ts';
import { AdminBench, refusedFields } from './testing/admin-bench.ts';
import { settle } from './testing/manual-clock.ts';
import { refusalOf } from './testing/refusal-of.ts';
import type { ScriptedEngine } from './testing/scripted-runner.ts';

let bench: AdminBench;
beforeEach(() => {
  bench = new AdminBench();
});
afterEach(() => bench.remove());

describe('create', () => {
  it('writes a file that only its owner can read, and creates the slot', async () => {
    const slots = bench.openAdmin();
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
    expect(bench.text('writer')).toBe(
      'model = "other"\nparallel = 3\npinned = true\nidle_unload = "5 min"\n\n[voice]\nspeed = 1.5\n',
    );
    expect(statSync(bench.fileOf('writer')).mode & 0o777).toBe(0o600);
    expect(slots.config('writer')).toMatchObject({ idleUnloadS: 300, voice: { speed: 1.5 } });
  });

  it('creates a missing folder', async () => {
    rmSync(join(bench.folders.config, 'slots'), { recursive: true });
    expect(await bench.openAdmin().create('writer', { model: 'other' })).toMatchObject({ name: 'writer' });
  });

  it('409 for a used name: of a slot, a built-in one, an invalid file', async () => {
    bench.slotFile('there', '');
    bench.slotFile('broken', 'parallel = "many"');
    const slots = bench.openAdmin();
    for (const name of ['there', 'agent', 'broken']) {
      expect((await refusalOf(slots.create(name, {}))).code).toBe('slot.exists');
    }
    expect(bench.text('broken')).toBe('parallel = "many"');
  });

  it('of two concurrent calls one creates the slot, and the other gets 409', async () => {
    const slots = bench.openAdmin();
    const both = await Promise.allSettled([
      slots.create('w', { parallel: 1 }),
      slots.create('w', { parallel: 2 }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(bench.text('w')).toBe('parallel = 1\n');
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
    ['an unknown engine', 'w', { engine: 'nope' }, ['engine']],
    ['a type that the engine does not serve', 'w', { engine: 'embedded', type: 'tts' as const }, ['type']],
    ['a device that it does not run on', 'w', { device: 'npu' }, ['device']],
  ])('422 for %s, and nothing is written', async (_, name, settings, paths) => {
    const slots = bench.openAdmin();
    expect(await refusedFields(slots.create(name, settings))).toEqual(['slot.invalid', paths]);
    expect(existsSync(bench.fileOf('w'))).toBe(false);
  });
});

describe('change', () => {
  it('changes only what is named; comments and unknown keys stay', async () => {
    bench.slotFile('w', '# mine\nmodel = "small" # why\nlater = 1\n\n[voice] # v\nspeed = 1.0\n');
    const slots = bench.openAdmin();
    await slots.change('w', { model: 'other', pinned: true, voice: { voice: 'a', speed: null } });
    expect(bench.text('w')).toBe(
      '# mine\nmodel = "other" # why\nlater = 1\npinned = true\n\n[voice] # v\nvoice = "a"\n',
    );
    await slots.change('w', { model: null, voice: null });
    expect(bench.text('w')).toBe('# mine\n# why\nlater = 1\npinned = true\n\n# v\n');
    expect(slots.config('w')).toMatchObject({ model: null, voice: null, pinned: true });
  });

  it('a running engine keeps its settings until its next start; disabling ends it', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    await slots.load('w');
    expect(await slots.change('w', { parallel: 5 })).toMatchObject({ state: 'ready', parallel: 2 });
    expect(await slots.restart('w')).toMatchObject({ parallel: 5 });
    await slots.change('w', { enabled: false });
    await settle();
    expect(slots.get('w')).toMatchObject({ enabled: false, state: 'offline' });
  });

  it('creates a file for the built-in slot, and for an automatic one a file that still serves its model', async () => {
    bench.bindable = [
      { id: 'vectors', type: 'embedding', created: 1 },
      { id: 'other', type: 'llm', created: 1 },
    ];
    const slots = bench.openAdmin();
    await slots.change('agent', { context: 256 });
    expect(bench.text('agent')).toBe('context = 256\n');
    const auto = slots.list().find(({ model }) => model === 'other');
    expect(auto).toMatchObject({ auto: true });
    expect(await slots.change(auto?.name as string, { pinned: true })).toMatchObject({
      auto: false,
      model: 'other',
      pinned: true,
    });
    expect(bench.text(auto?.name as string)).toBe('type = "llm"\nmodel = "other"\npinned = true\n');
  });

  it('creates a file for an automatic slot of another engine that names the engine', async () => {
    bench.bindable = [{ id: 'llama3.2:1b', type: 'llm', format: 'flm', created: 1 }];
    const slots = bench.openAdmin();
    expect(slots.get('llama3-2-1b')).toMatchObject({ auto: true, engine: 'flm', model: 'llama3.2:1b' });
    expect(await slots.change('llama3-2-1b', { pinned: true })).toMatchObject({
      auto: false,
      engine: 'flm',
      runner: 'process',
      model: 'llama3.2:1b',
    });
    expect(bench.text('llama3-2-1b')).toBe(
      'type = "llm"\nengine = "flm"\nmodel = "llama3.2:1b"\npinned = true\n',
    );
  });

  it('corrects a file with an invalid value, but not one with invalid TOML', async () => {
    bench.slotFile('wrong', 'parallel = "many"\nmodel = "small"\n');
    bench.slotFile('torn', 'parallel = \n');
    const slots = bench.openAdmin();
    expect(await refusedFields(slots.change('wrong', { pinned: true }))).toEqual([
      'slot.invalid',
      ['parallel'],
    ]);
    expect(await slots.change('wrong', { parallel: 4 })).toMatchObject({ parallel: 4 });
    await expect(slots.change('torn', { parallel: 4 })).rejects.toThrow(ConfigEditError);
    expect(bench.text('torn')).toBe('parallel = \n');
  });

  it('404 for an unknown slot; a file that cannot be written changes nothing', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    expect((await refusalOf(slots.change('missing', {}))).code).toBe('slot.not_found');
    rmSync(bench.fileOf('w'));
    mkdirSync(bench.fileOf('w'));
    await expect(slots.change('w', { parallel: 4 })).rejects.toThrow(FileWriteError);
    expect(slots.config('w')).toMatchObject({ parallel: 2 });
  });

  it('a manual edit in between is not lost', async () => {
    bench.slotFile('w', 'parallel = 1\n');
    const slots = bench.openAdmin();
    writeFileSync(bench.fileOf('w'), 'parallel = 1\n# by hand\n');
    await slots.change('w', { pinned: true });
    expect(bench.text('w')).toBe('parallel = 1\npinned = true\n# by hand\n');
  });

  it('keeps the mode of a file', async () => {
    bench.slotFile('w', 'parallel = 1\n');
    chmodSync(bench.fileOf('w'), 0o640);
    await bench.openAdmin().change('w', { pinned: true });
    expect(statSync(bench.fileOf('w')).mode & 0o777).toBe(0o640);
  });
});

describe('remove', () => {
  it('deletes the file and resolves when the last request and the engine have ended', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    const lease = await slots.ensureReady('w', { signal: new AbortController().signal, stream: false });
    let isRemoved = false;
    const removed = slots.remove('w').then(() => {
      isRemoved = true;
    });
    await vi.waitFor(() => expect(slots.get('w')).toBeUndefined(), 20_000);
    expect([slots.get('w'), existsSync(bench.fileOf('w')), isRemoved]).toEqual([undefined, false, false]);
    lease.release();
    await removed;
    expect(bench.runner.last.hasEnded).toBe(true);
  });

  it('a slot that is re-created in the meantime starts only after the engine of the old one has ended', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    const options = { signal: new AbortController().signal, stream: false };
    const lease = await slots.ensureReady('w', options);
    const removed = slots.remove('w');
    await vi.waitFor(() => expect(slots.get('w')).toBeUndefined(), 20_000);
    expect(await slots.create('w', { model: 'other' })).toMatchObject({ state: 'offline' });
    const request = slots.ensureReady('w', options);
    const engines = () => bench.runner.engines.filter(({ launch }) => launch.slot === 'w');
    await settle();
    expect(slots.get('w')).toMatchObject({ state: 'offline', queued: 1, waiting_for: ['w'] });
    const first = engines()[0] as ScriptedEngine;
    first.stopsOnRequest = false;
    lease.release();
    await settle();
    expect([first.stops.length, engines().length]).toEqual([1, 1]);
    first.end();
    const next = await request;
    expect([next.model, engines().length]).toEqual(['other', 2]);
    next.release();
    await removed;
  });

  it('a swapped slot is removed with its file as well', async () => {
    bench.slotFile('w', 'model = "small"\n');
    const slots = bench.openAdmin();
    await slots.swap('w', { modelId: 'other' });
    await slots.remove('w');
    expect(slots.get('w')).toBeUndefined();
  });

  it('the built-in slot loses its file and returns to its defaults', async () => {
    bench.slotFile('agent', 'parallel = 7\nmodel = "other"\n');
    const slots = bench.openAdmin();
    await settle();
    expect(slots.get('agent')).toMatchObject({ state: 'ready', model: 'other' });
    await slots.remove('agent');
    expect(slots.get('agent')).toMatchObject({ state: 'offline', model: 'small', parallel: 2 });
    expect(await refusedFields(slots.remove('agent'))).toEqual(['slot.invalid', ['name']]);
  });

  it('422 for an automatic slot, 404 for an unknown one', async () => {
    bench.bindable = [{ id: 'other', type: 'llm', created: 1 }];
    const slots = bench.openAdmin();
    const auto = slots.list().find((slot) => slot.auto)?.name as string;
    expect(await refusedFields(slots.remove(auto))).toEqual(['slot.invalid', ['name']]);
    expect((await refusalOf(slots.remove('missing'))).code).toBe('slot.not_found');
    expect((await refusalOf(slots.remove('../../etc'))).code).toBe('slot.not_found');
  });

  it('deletes an invalid file', async () => {
    bench.slotFile('broken', 'x');
    const slots = bench.openAdmin();
    await slots.remove('broken');
    expect(existsSync(bench.fileOf('broken'))).toBe(false);
    expect(slots.problems()).toEqual([]);
  });
});
