import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { RedispatchError } from './refusals.ts';
import type { Slots } from './slots.ts';
import { MODEL } from './testing/controller-bench.ts';
import { ManualClock, settle } from './testing/manual-clock.ts';
import { refusalOf } from './testing/refusal-of.ts';
import { ScriptedRunner } from './testing/scripted-runner.ts';
import { SlotsBench } from './testing/slots-bench.ts';

let bench: SlotsBench;
let runner: ScriptedRunner;
let clock: ManualClock;
beforeEach(() => {
  bench = new SlotsBench();
  bench.model = MODEL;
  runner = new ScriptedRunner();
  clock = new ManualClock();
});
afterEach(() => bench.remove());

const fit = async () => ({
  status: 200,
  body: '{"data":[{"id":"tiny"},{"id":"demo"}],"choices":[{}]}',
});
const scripted = () => ({ runner, clock, queryEngine: fit });
const open = (): Slots => {
  runner.loadsAtOnce = false;
  return bench.open(scripted());
};
const options = { signal: new AbortController().signal, stream: false };
/** A slot file with the model of slot `agent` whose settings differ, so that the two share no engine. */
const OWN_ENGINE = 'model = "tiny"\nbatch = 64\n';

describe('createSlots', () => {
  it('lists slots by name, including disabled ones; reading loads nothing', async () => {
    bench.slotFile('utility', OWN_ENGINE);
    bench.slotFile('embed2', 'enabled = false\nautoload = true');
    const slots = open();
    for (let i = 0; i < 3; i++) slots.list();
    await settle();
    expect(slots.list().map((slot) => [slot.name, slot.enabled, slot.state])).toEqual([
      ['agent', true, 'starting'],
      ['embed2', false, 'offline'],
      ['utility', true, 'offline'],
    ]);
    expect(slots.get('utility')).toMatchObject({ model: 'tiny', pid: null, failure: null });
    expect(slots.config('utility')).toMatchObject({ idleUnloadS: 900 });
    expect([slots.get('missing'), slots.config('missing')]).toEqual([undefined, undefined]);
  });

  it.each([
    ['a name', 'no-such-model', 'no-such-model'],
    ['a path', '/srv/private/lost.gguf', 'lost.gguf'],
    ['a key of the gateway, hidden', '/srv/a-key-of-the/gateway.gguf', '[hidden].gguf'],
  ])('shows the missing model of a file: %s', (_, model, expectedModel) => {
    bench.slotFile('utility', `model = "${model}"`);
    bench.model = null;
    const slots = bench.open({ ...scripted(), secrets: () => ['a-key-of-the/gateway'] });
    expect(slots.get('utility')).toMatchObject({
      model: null,
      model_missing: expectedModel,
      state: 'offline',
    });
    expect(slots.get('agent')).not.toHaveProperty('model_missing');
  });

  it.each([
    ['the chosen card', {}, { GGML_VK_VISIBLE_DEVICES: '1' }],
    ['the cards of the gateway environment', { GGML_VK_VISIBLE_DEVICES: '0' }, {}],
  ])('starts an engine with device auto on %s', async (_, environment, env) => {
    bench.environment = environment;
    bench.slotFile('agent', 'autoload = true');
    bench.open({ ...scripted(), headroom: () => ({ pool: 'b', free: bench.memory, card: ['vulkan:1'] }) });
    await settle();
    expect(runner.last.launch.env).toEqual(env);
  });

  it('an unknown slot is 404, and for a request a RedispatchError', async () => {
    const slots = open();
    for (const act of [slots.load, slots.unload, slots.restart]) {
      expect(await refusalOf(act.call(slots, 'missing'))).toMatchObject({
        code: 'slot.not_found',
        status: 404,
      });
    }
    expect(await refusalOf(slots.ensureReady('missing', options))).toBeInstanceOf(RedispatchError);
    slots.recordUsage('missing', { tokensPerSecond: 1 });
  });

  it('starts without any model, and reports that', async () => {
    bench.model = null;
    const slots = bench.open({ ...scripted(), secrets: () => ['a-key-of-the/gateway'] });
    await settle();
    expect(slots.get('agent')).toMatchObject({ state: 'offline', model: null });
    expect(bench.logged.join()).toContain('The slot has no model.');
  });

  it('when the registry throws, only the model is missing', async () => {
    const modelFor = () => {
      throw new Error('database is locked');
    };
    const slots = bench.open({ ...scripted(), modelFor });
    expect((await refusalOf(slots.ensureReady('agent', options))).code).toBe('slot.failed');
    expect(slots.get('agent')?.state).toBe('offline');
  });

  it('only agent gets a model that its file does not name', () => {
    bench.slotFile('utility', '');
    bench.slotFile('writer', 'model = "tiny"');
    const models = open()
      .list()
      .map((slot) => [slot.name, slot.model]);
    expect(models).toEqual([
      ['agent', 'tiny'],
      ['utility', null],
      ['writer', 'tiny'],
    ]);
  });

  it('reads the model of slot agent again after a hardware probe', () => {
    bench.slotFile('agent', 'autoload = false');
    const slots = open();
    bench.model = { ...MODEL, id: 'large' };
    expect(slots.get('agent')?.model).toBe('tiny');
    bench.bus.emit('hardware', { probed_at: 1 });
    expect(slots.get('agent')?.model).toBe('large');
  });

  describe('a card whose free memory was read a moment ago', () => {
    const GIB = 1024 ** 3;
    const card = '0000:01:00.0';
    /** A card whose next reading, which takes one second, finds `found` bytes. */
    const reading = (found: number) => {
      let startedAt: number | null = null;
      const isRead = () => startedAt !== null && clock.now() - startedAt >= 1000;
      const rereadCards = vi.fn(() => {
        startedAt ??= clock.now();
        return !isRead();
      });
      return { rereadCards, headroom: () => ({ pool: card, free: isRead() ? found : bench.memory }) };
    };
    const opened = (found: number, agent = 'autoload = false'): [Slots, ReturnType<typeof reading>] => {
      bench.slotFile('agent', agent);
      bench.slotFile('utility', 'model = "tiny"');
      bench.model = { ...MODEL, sizeBytes: 3 * GIB };
      const source = reading(found);
      return [bench.open({ ...scripted(), ...source }), source];
    };

    it('is read again before a load is refused, which starts when another program has released it', async () => {
      bench.memory = GIB;
      const [slots, { rereadCards }] = opened(24 * GIB);
      const loaded = slots.load('utility');
      await clock.advance(900);
      expect(slots.get('utility')).toMatchObject({ state: 'offline', failure: null });
      await clock.advance(200);
      expect(await loaded).toMatchObject({ state: 'ready' });
      expect(rereadCards).toHaveBeenCalled();
    });

    it('is read again before another slot is evicted', async () => {
      bench.memory = 5 * GIB;
      const [slots] = opened(24 * GIB, 'autoload = true');
      await settle();
      bench.memory = GIB;
      const loaded = slots.load('utility');
      await clock.advance(1200);
      expect(await loaded).toMatchObject({ state: 'ready' });
      expect(slots.get('agent')).toMatchObject({ state: 'ready' });
    });

    it('refuses with the newer figure', async () => {
      bench.memory = GIB;
      const [slots] = opened(2 * GIB);
      const refused = refusalOf(slots.load('utility'));
      await clock.advance(1200);
      const error = await refused;
      expect(error.code).toBe('slot.no_memory');
      expect(error.options.details).toMatchObject({ free: 2 * GIB });
    });

    it('is not read again for a load that fits', async () => {
      bench.memory = 24 * GIB;
      const [slots, { rereadCards }] = opened(24 * GIB);
      expect(await slots.load('utility')).toMatchObject({ state: 'ready' });
      expect(rereadCards).not.toHaveBeenCalled();
    });
  });

  describe('two slots that do not fit into memory together', () => {
    const GIB = 1024 ** 3;
    const both = (agent: string): Slots => {
      bench.slotFile('agent', agent);
      bench.slotFile('utility', OWN_ENGINE);
      bench.model = { ...MODEL, sizeBytes: 3 * GIB };
      bench.memory = 5 * GIB;
      bench.cores = 9;
      return bench.open(scripted());
    };

    it('a pinned slot stays: 507 with the sum, which does not count memory twice', async () => {
      const slots = both('pinned = true');
      await settle();
      expect(slots.get('agent')).toMatchObject({ state: 'ready', threads: 8, pinned: true });
      const error = await refusalOf(slots.load('utility'));
      expect(error.code).toBe('slot.no_memory');
      expect(error.options.details).toMatchObject({
        reserved: 3 * GIB,
        victims: [{ slot: 'agent', bytes: 3 * GIB, stays: 'pinned' }],
      });
      await slots.unload('agent');
      expect(await slots.load('utility')).toMatchObject({ state: 'ready', threads: 8 });
    });

    it('an idle slot is evicted for the other, which lists the slots it waits for', async () => {
      const slots = both('');
      await settle();
      const loaded = slots.load('utility');
      expect(slots.get('utility')).toMatchObject({ state: 'offline', waiting_for: ['agent'] });
      await clock.advance(250);
      expect(await loaded).toMatchObject({ state: 'ready', waiting_for: [], threads: 8 });
      expect(slots.get('agent')).toMatchObject({ state: 'offline', failure: null });
      expect(runner.starts).toBe(2);
    });

    it('a slot without a caller evicts nothing', async () => {
      bench.slotFile('writer', `${OWN_ENGINE}autoload = true`);
      const slots = both('');
      await clock.advance(60_000);
      expect(['agent', 'writer'].map((name) => slots.get(name)?.state)).toEqual(['ready', 'offline']);
      expect(bench.logged.join()).toContain('Slot writer needs');
    });

    it('a serving slot drains, and its waiting callers are served later', async () => {
      const slots = both('parallel = 1');
      await settle();
      const lease = await slots.ensureReady('agent', options);
      const behind = slots.ensureReady('agent', options);
      const other = slots.ensureReady('utility', options);
      await clock.advance(120_000);
      expect(slots.get('agent')).toMatchObject({ state: 'draining', active: 1, queued: 1 });
      lease.release();
      const lease2 = await other;
      await settle();
      expect(slots.get('agent')).toMatchObject({ state: 'offline', waiting_for: ['utility'], queued: 1 });
      lease2.release();
      await clock.advance(250);
      (await behind).release();
    });

    it('a load without a caller is removed from the queue, and evicts nothing', async () => {
      const slots = both('');
      await settle();
      const disconnect = new AbortController();
      const request = slots.ensureReady('utility', { signal: disconnect.signal, stream: false });
      request.catch(() => {});
      disconnect.abort();
      await clock.advance(60_000);
      expect(slots.get('utility')).toMatchObject({ state: 'offline', waiting_for: [], queued: 0 });
      expect(slots.get('agent')?.state).toBe('ready');
    });
  });
});

describe('events', () => {
  it('are emitted with the whole record, at most a few times per second', async () => {
    const emitted: SlotRecord[] = [];
    bench.bus.subscribe((entry) => {
      if (entry.name === 'slot') emitted.push((entry.payload as { slot: SlotRecord }).slot);
    });
    const slots = open();
    await clock.advance(100);
    expect(emitted.map((slot) => slot.state)).toEqual(['starting']);
    runner.last.load();
    for (let i = 0; i < 500; i++) (await slots.ensureReady('agent', options)).release();
    slots.recordUsage('agent', { tokensPerSecond: 42.5 });
    await clock.advance(100);
    expect(emitted).toHaveLength(2);
    expect(emitted[1]).toMatchObject({ state: 'ready', requests: 500, tokens_per_second: 42.5 });
  });

  it('a hardware probe updates slots that already run', async () => {
    let note: string | null = null;
    const slots = bench.open({ ...scripted(), gpuNote: () => note });
    await settle();
    expect(slots.get('agent')?.degraded).toBeNull();
    note = 'Some GPU is not used.';
    bench.bus.emit('hardware', { probed_at: 1 });
    expect(slots.get('agent')?.degraded).toContain(note);
  });

  it('a model event replaces the demonstration model', async () => {
    bench.model = { ...MODEL, id: 'demo', demo: true };
    const slots = bench.open(scripted());
    await settle();
    expect(slots.get('agent')).toMatchObject({ state: 'ready', demo: true });
    bench.model = MODEL;
    bench.bus.emit('model', { id: 'tiny', change: 'added' });
    await settle();
    expect(slots.get('agent')).toMatchObject({ state: 'ready', model: 'tiny', demo: false });
  });
});

describe('reload', () => {
  it('adds, changes and removes slots; an invalid file keeps the last valid settings', async () => {
    bench.slotFile('one', 'parallel = 1');
    bench.slotFile('two', 'parallel = 1');
    const slots = open();
    bench.slotFile('one', 'parallel = 4');
    bench.slotFile('two', 'parallel = "many"');
    bench.slotFile('three', '');
    slots.reload();
    expect(slots.list().map((slot) => [slot.name, slot.parallel])).toEqual([
      ['agent', 2],
      ['one', 4],
      ['two', 1],
      ['three', 2],
    ]);
    expect(slots.problems()).toMatchObject([{ file: 'slots/two.toml', line: 1 }]);
    rmSync(join(bench.folders.config, 'slots', 'one.toml'));
    slots.reload();
    expect(slots.get('one')).toBeUndefined();
    expect(await refusalOf(slots.ensureReady('one', options))).toBeInstanceOf(RedispatchError);
  });

  it('a folder that cannot be listed for some time removes no slot and ends no engine', async () => {
    bench.slotFile('one', 'model = "tiny"\nparallel = 1');
    const slots = bench.open(scripted());
    await slots.load('one');
    const folder = join(bench.folders.config, 'slots');
    renameSync(folder, `${folder}.away`);
    writeFileSync(folder, '');
    slots.reload();
    expect(slots.get('one')).toMatchObject({ state: 'ready', parallel: 1 });
    expect(slots.problems()).toEqual([{ file: 'slots', line: null, message: 'cannot be listed (ENOTDIR)' }]);
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    slots.reload();
    expect([slots.get('one')?.state, slots.problems()]).toEqual(['ready', []]);
  });
});

it('an unknown default voice is a problem of its file, in the list and in the settings', () => {
  const model = {
    id: 'piper',
    path: '/m/piper',
    type: 'tts',
    demo: false,
    sizeBytes: 1,
    contextTrain: null,
  } as const;
  bench.model = { ...model, voices: ['anna'] };
  bench.slotFile('tts', 'model = "piper"\n[voice]\nvoice = "nosuch"');
  bench.slotFile('good', 'type = "tts"\nmodel = "piper"\n[voice]\nvoice = "anna"');
  const slots = open();
  const message = 'voice.voice: there is no voice "nosuch"; available: anna';
  expect(slots.problems()).toEqual([{ file: 'slots/tts.toml', line: 2, message }]);
  expect(slots.settings('tts').problems).toEqual([{ line: 2, message }]);
  expect(slots.settings('good').problems).toEqual([]);
});

it('stop ends every engine and refuses later requests', async () => {
  const slots = bench.open(scripted());
  await settle();
  await slots.stop(0);
  expect(runner.engines.every((engine) => engine.hasEnded)).toBe(true);
  expect((await refusalOf(slots.ensureReady('agent', options))).code).toBe('slot.draining');
  slots.reload();
  expect(slots.list()).toHaveLength(1);
});
