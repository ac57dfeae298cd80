import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SlotTypeName } from '../contract/slots.ts';
import type { SlotModel } from './engines/engine.ts';
import { RedispatchError } from './refusals.ts';
import type { Slots } from './slots.ts';
import { MODEL } from './testing/controller-bench.ts';
import { ManualClock, settle } from './testing/manual-clock.ts';
import { refusalOf } from './testing/refusal-of.ts';
import { ScriptedRunner } from './testing/scripted-runner.ts';
import { SlotsBench } from './testing/slots-bench.ts';

interface Known extends SlotModel {
  created: number;
}

let bench: SlotsBench;
let runner: ScriptedRunner;
let clock: ManualClock;
let models: Known[];
let agent: string | null;
let slots: Slots;
beforeEach(() => {
  bench = new SlotsBench();
  runner = new ScriptedRunner();
  clock = new ManualClock();
  models = [];
  agent = 'big';
});
afterEach(() => bench.remove());

const model = (id: string, type: SlotTypeName = 'llm', over: Partial<Known> = {}): Known => ({
  ...MODEL,
  id,
  type,
  created: 1,
  ...over,
});
const find = (id: string | null) => models.find((each) => each.id === id) ?? null;
const ids = () => models.map(({ id }) => ({ id }));
const fit = async () => ({
  status: 200,
  body: JSON.stringify({
    data: [...ids(), { embedding: [1] }].reverse(),
    choices: [{}],
    results: [{ relevance_score: 1 }],
  }),
});
function open(): Slots {
  slots = bench.open({
    runner,
    clock,
    queryEngine: fit,
    models: () => models,
    modelFor: (slot) => find(slot.model ?? agent),
  });
  return slots;
}
const register = (...added: Known[]) => {
  models.push(...added);
  for (const { id } of added) bench.bus.emit('model', { id, change: 'added' });
};
const remove = (id: string) => {
  models = models.filter((each) => each.id !== id);
  bench.bus.emit('model', { id, change: 'removed' });
};
const listed = () => Object.fromEntries(slots.list().map(({ name, model: held }) => [name, held]));
const options = { signal: new AbortController().signal, stream: false };

describe('automatic slots', () => {
  it('every model has a slot; none is loaded for that', async () => {
    models = [model('big'), model('small'), model('vectors', 'embedding'), model('ranks', 'rerank')];
    open();
    await settle();
    expect(listed()).toEqual({ agent: 'big', small: 'small', embed: 'vectors', rerank: 'ranks' });
    expect(slots.get('embed')).toMatchObject({ auto: true, type: 'embedding', state: 'offline' });
    expect(slots.get('agent')).toMatchObject({ auto: false, state: 'ready' });
    expect(runner.starts).toBe(1);
  });

  it('a request loads the model like any other, with its type', async () => {
    models = [model('vectors', 'embedding')];
    agent = null;
    open();
    const lease = await slots.ensureReady('embed', options);
    expect(runner.last.launch).toMatchObject({ type: 'embedding', modelId: 'vectors', slot: 'embed' });
    expect(slots.get('embed')?.state).toBe('serving');
    lease.release();
    await clock.advance(900_000);
    expect(slots.get('embed')?.state).toBe('offline');
  });

  it('are added and removed with their models', async () => {
    open();
    expect(listed()).toEqual({ agent: null });
    register(model('vectors', 'embedding'));
    expect(listed()).toEqual({ agent: null, embed: 'vectors' });
    (await slots.ensureReady('embed', options)).release();
    remove('vectors');
    expect(listed()).toEqual({ agent: null });
    expect(await refusalOf(slots.ensureReady('embed', options))).toBeInstanceOf(RedispatchError);
    await settle();
    expect(runner.last.hasEnded).toBe(true);
  });

  it('a voice that cannot be loaded gives slot tts to another one', async () => {
    open();
    register(model('broken', 'tts'), model('good', 'tts', { created: 2 }));
    expect(listed()).toEqual({ agent: null, tts: 'broken', good: 'good' });
    runner.loadsAtOnce = false;
    const refused = refusalOf(slots.ensureReady('tts', options));
    await settle();
    runner.last.end('the voice is broken');
    expect(await refused).toMatchObject({ code: 'slot.failed' });
    await clock.advance(200);
    expect(listed()).toEqual({ agent: null, tts: 'good', broken: 'broken' });
    runner.loadsAtOnce = true;
    (await slots.ensureReady('tts', options)).release();
    expect(runner.last.launch.modelId).toBe('good');
    // A changed file is tried again under its own name, and does not take the slot back.
    bench.bus.emit('model', { id: 'broken', change: 'changed' });
    await clock.advance(200);
    expect(listed()).toEqual({ agent: null, tts: 'good', broken: 'broken' });
  });

  it('an engine ends when its slot gets another model', async () => {
    open();
    register(model('first', 'embedding'), model('second', 'embedding', { created: 2 }));
    (await slots.ensureReady('embed', options)).release();
    remove('first');
    await settle();
    expect(listed()).toEqual({ agent: null, embed: 'second' });
    expect(runner.last.hasEnded).toBe(true);
    (await slots.ensureReady('embed', options)).release();
    expect(runner.last.launch.modelId).toBe('second');
  });

  it('a slot file takes the model, and releases it when the file is deleted', () => {
    models = [model('small'), model('vectors', 'embedding')];
    agent = null;
    open();
    bench.slotFile('writer', 'model = "small"');
    bench.slotFile('embed', 'context = 256');
    slots.reload();
    expect(listed()).toEqual({ agent: null, embed: 'vectors', writer: 'small' });
    expect(slots.get('embed')?.auto).toBe(false);
    expect(slots.config('embed')?.context).toBe(256);
    for (const name of ['writer', 'embed']) rmSync(join(bench.folders.config, 'slots', `${name}.toml`));
    slots.reload();
    expect(listed()).toEqual({ agent: null, embed: 'vectors', small: 'small' });
    expect(slots.get('embed')?.auto).toBe(true);
  });

  it('a slot file that becomes invalid gives its model no second slot', () => {
    models = [model('small'), model('vectors', 'embedding')];
    agent = null;
    bench.slotFile('writer', 'model = "small"');
    bench.slotFile('embed', 'context = 256');
    open();
    const whole = { agent: null, embed: 'vectors', writer: 'small' };
    expect(listed()).toEqual(whole);
    bench.slotFile('writer', 'model = ');
    bench.slotFile('embed', 'context = ');
    slots.reload();
    expect(listed()).toEqual(whole);
    expect(slots.config('embed')?.context).toBe(256);
    expect(slots.problems()).toHaveLength(2);
  });

  it('an invalid file for an automatic slot leaves it unchanged', () => {
    models = [model('small'), model('vectors', 'embedding')];
    agent = null;
    open();
    bench.slotFile('small', 'pinned = maybe');
    bench.slotFile('embed', 'context = ');
    slots.reload();
    expect(listed()).toEqual({ agent: null, embed: 'vectors', small: 'small' });
    remove('small');
    expect(listed()).toEqual({ agent: null, embed: 'vectors' });
  });

  it('models whose disk is missing at one start get their slots back', async () => {
    const [first, second] = [
      model('first', 'embedding'),
      model('second', 'embedding', { created: 2 }),
    ] as const;
    let text: string | null = null;
    const bindingStore = {
      get: () => text,
      set: (next: string) => {
        text = next;
      },
    };
    let absent: string[] = [];
    const reopen = () => {
      slots = bench.open({
        ...{ runner, clock, queryEngine: fit, bindingStore },
        models: () => models,
        absentModels: () => absent,
        modelFor: (slot) => find(slot.model),
      });
    };
    models = [first, second];
    reopen();
    expect(listed()).toEqual({ agent: null, embed: 'first', second: 'second' });
    await slots.stop(0);
    [models, absent] = [[second], ['first']];
    reopen();
    expect(listed()).toEqual({ agent: null, embed: 'second' });
    absent = [];
    register(first);
    expect(listed()).toEqual({ agent: null, embed: 'first', second: 'second' });
  });

  it('the model that agent would hold next is served, and so is the previous one', async () => {
    models = [model('old')];
    agent = 'old';
    open();
    await settle();
    agent = 'big';
    register(model('big'));
    expect(listed()).toEqual({ agent: 'old', big: 'big' });
    await slots.unload('agent');
    await clock.advance(100);
    expect(listed()).toEqual({ agent: 'big', big: 'big', old: 'old' });
  });

  it('the first real model replaces the demonstration model and needs no second slot', async () => {
    models = [model('demo', 'llm', { demo: true })];
    agent = 'demo';
    open();
    await settle();
    agent = 'real';
    register(model('real'));
    remove('demo');
    await settle();
    await clock.advance(100);
    expect(listed()).toEqual({ agent: 'real' });
  });

  it('hundreds of models have slots, and a change of one does not update all others', async () => {
    let lookups = 0;
    agent = null;
    slots = bench.open({
      ...{ runner, clock, queryEngine: fit },
      models: () => {
        lookups += 1;
        return models;
      },
      modelFor: (slot) => find(slot.model),
    });
    lookups = 0;
    for (let i = 1; i <= 300; i++) register(model(`m${i}`, 'llm', { created: i }));
    await settle();
    await clock.advance(100);
    expect(lookups).toBeLessThan(5);
    expect(new Set(Object.values(listed()))).toContain('m300');
  });

  it('emit events', async () => {
    const emitted: string[] = [];
    bench.bus.subscribe((entry) => {
      if (entry.name === 'slot') emitted.push((entry.payload as { slot: { name: string } }).slot.name);
    });
    open();
    register(model('vectors', 'embedding'));
    await clock.advance(100);
    expect(emitted).toContain('embed');
  });
});
