import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import { RegistryView } from '../contract/models.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { createLog } from '../lib/log.ts';
import { SetupError } from '../lib/setup-error.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openSettings } from '../settings/open-settings.ts';
import { openStore, type Store } from '../store/store.ts';
import { DEMO_MODEL_ID } from './demo-model.ts';
import { type MetadataReader, readMetadataInChild } from './read-metadata-in-child.ts';
import { HEADER_VERSION } from './registered-model.ts';
import { createRegistry, type Registry, type RegistryOptions } from './registry.ts';
import { writeModelHeader } from './testing/gguf/model-header.ts';
import { PUBLISHED_ENCODERS } from './testing/gguf/published-models.ts';
import { tinyChat } from './testing/gguf/tiny-chat.ts';
import { tinyEmbed } from './testing/gguf/tiny-embed.ts';
import { encodeGguf } from './testing/gguf/writer.ts';
import { readInProcess } from './testing/read-in-process.ts';

const log = createLog({ level: 'fatal' });
const ends: (() => void)[] = [];
let home: string;
let models: string;
let store: Store;
let events: string[];

beforeEach(() => {
  home = scratch();
  models = join(home, 'state', 'models');
  mkdirSync(models, { recursive: true });
  store = openStore({ folder: join(home, 'state'), log });
  ends.push(() => store.close());
  events = [];
});
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

/** Creates a registry with the real store and settings of `home`, as after a start. */
async function start(
  env: Record<string, string> = {},
  options: Partial<RegistryOptions> = {},
): Promise<Registry> {
  const settings = await openSettings({
    env: { SVC_HOME: home, SVC_ESPEAK: 'off', ...env },
    log,
    watch: false,
  });
  ends.push(() => settings.close());
  const bus = new EventBus<GatewayEvents>();
  bus.subscribe(({ payload }) => {
    const { id, change } = payload as GatewayEvents['model'];
    events.push(`${change} ${id}`);
  });
  const registry = await createRegistry({
    ...{ store, log, bus, settings, firstScanMs: 20_000, readMetadata: readInProcess },
    ...options,
  });
  ends.push(registry.close);
  return registry;
}

const chat = (name: string, width = 0) => encodeGguf(tinyChat({ name, width }));
function put(path: string, bytes: Buffer | string = chat('Tiny')): string {
  writeFileSync(path, bytes);
  return path;
}
const ids = (registry: Registry) => registry.list().map(({ id }) => id);

test('a new machine has the demonstration model, and slot agent uses it', async () => {
  const registry = await start();
  expect(ids(registry)).toEqual([DEMO_MODEL_ID]);
  expect(registry.views()[0]).toMatchObject({ demo: true, type: 'llm' });
  expect(registry.chatModelFor()?.id).toBe(DEMO_MODEL_ID);
});

test('views never contain a path and match their schema', async () => {
  put(join(models, 'a.gguf'));
  const registry = await start();
  const views = registry.views();
  expect(views.map((view) => RegistryView.parse(view))).toEqual(views);
  expect(JSON.stringify(views)).not.toContain(home);
  expect(registry.get('a')?.path).toBe(join(models, 'a.gguf'));
});

test('the first real chat model removes the demonstration model permanently', async () => {
  const registry = await start();
  const file = put(join(models, 'real.gguf'));
  await registry.scan();
  expect(ids(registry)).toEqual(['real']);
  expect(events).toEqual([`added ${DEMO_MODEL_ID}`, 'added real', `removed ${DEMO_MODEL_ID}`]);
  unlinkSync(file);
  await registry.scan();
  expect(ids(registry)).toEqual([]);
  expect(ids(await start())).toEqual([]);
});

test('a file that an older version read is read again, and keeps its id and origin', async () => {
  put(join(models, 'a.gguf'));
  const first = await start();
  expect(first.get('a')?.contextMemory).toMatchObject({ slidingWindow: 0 });
  first.close();
  const row = store.models.get('a');
  if (row === null) throw new Error('The model was not stored.');
  const { contextMemory: _, headerVersion: __, ...header } = row.header;
  store.models.upsert({ ...row, header, repo: 'maker/a', licence: 'mit' });
  const registry = await start();
  expect(registry.get('a')).toMatchObject({
    repo: 'maker/a',
    licence: 'mit',
    contextMemory: { slidingWindow: 0 },
    headerVersion: HEADER_VERSION,
  });
  expect(ids(registry)).toEqual(['a']);
});

test('a large model gets the figures of llama.cpp after the scan', async () => {
  const [embedding] = PUBLISHED_ENCODERS;
  if (embedding === undefined) throw new Error('There is no model.');
  await writeModelHeader(join(models, 'e.gguf'), embedding);
  const registry = await start();
  expect(registry.get('e')).toMatchObject({ type: 'embedding', readsInSteps: true });
  // The simulation has a low priority: on a busy machine it waits for all others.
  await expect
    .poll(() => registry.get('e')?.simulated?.[1], { timeout: 150_000 })
    .toMatchObject({
      context: 8192,
      windowBytes: 114_688 * 8192,
    });
}, 180_000);

test('a model without chat does not remove the demonstration model', async () => {
  put(join(models, 'embed.gguf'), encodeGguf(tinyEmbed()));
  const registry = await start();
  expect(ids(registry)).toEqual(['embed', DEMO_MODEL_ID]);
  expect(registry.get('embed')?.type).toBe('embedding');
});

test('id and creation time survive restarts and changes of the file', async () => {
  const file = put(join(models, 'My Model.gguf'));
  utimesSync(file, 1_700_000_000, 1_700_000_000);
  expect((await start()).get('My-Model')?.created).toBe(1_700_000_000);
  const restarted = await start();
  expect(events).toEqual(['added My-Model']);
  put(file, chat('Other', 384));
  await restarted.scan();
  expect(restarted.get('My-Model')).toMatchObject({ created: 1_700_000_000, name: 'Other', embedding: 384 });
  expect(events).toEqual(['added My-Model', 'changed My-Model']);
});

test('the same name in two folders gets two stable ids', async () => {
  const other = join(home, 'other');
  mkdirSync(other);
  mkdirSync(join(home, 'config'), { recursive: true });
  writeFileSync(join(home, 'config', 'config.toml'), `[models]\nfolders = [${JSON.stringify(other)}]\n`);
  put(join(other, 'a.gguf'));
  const first = await start();
  put(join(models, 'a.gguf'));
  await first.scan();
  expect(ids(first)).toEqual(['a', 'a-2']);
  const second = await start();
  expect(second.get('a')?.path).toBe(join(other, 'a.gguf'));
});

const PULLED = { repo: 'owner/a', revision: 'c0ffee', licence: 'mit', sha256: 'ab'.repeat(32) };

/** Registers a pulled model with all settings that can be chosen. */
async function pulledModel(registry: Registry): Promise<string> {
  const folder = join(models, 'owner', 'a');
  mkdirSync(folder, { recursive: true });
  const path = put(join(folder, 'a.gguf'));
  await registry.registerPulled({ path, ...PULLED });
  await registry.change('a', { binding: 'slot:agent', enable_thinking: true });
  return folder;
}
const WHOLE = { ...PULLED, source: 'pull', binding: 'slot:agent', enable_thinking: true };

test('a model whose disk was unmounted during a scan and a start returns unchanged and can be removed', async () => {
  const registry = await start();
  const folder = await pulledModel(registry);
  const unmounted = join(home, 'away');
  renameSync(folder, unmounted);
  await registry.scan();
  expect(ids(registry)).toEqual([]);
  expect(events.at(-1)).toBe('removed a');
  const restarted = await start();
  expect(ids(restarted)).toEqual([]);
  renameSync(unmounted, folder);
  await restarted.scan();
  expect(events.at(-1)).toBe('added a');
  expect(restarted.get('a')).toMatchObject(WHOLE);
  expect((await start()).get('a')).toMatchObject(WHOLE);
  expect(await restarted.remove('a')).toBe(1);
  expect(ids(await start())).toEqual([]);
});

test('a pull keeps its origin while a scan reads its file', async () => {
  const registry = await start();
  const paths = ['a', 'b'].map((name) => put(join(models, `${name}.gguf`)));
  const register = (path: string) => registry.registerPulled({ path, ...PULLED });
  await Promise.all([...paths.map(register), registry.register(paths[0] as string)]);
  const origin = { ...PULLED, source: 'pull' };
  expect(registry.list()).toMatchObject([origin, origin]);
});

test('another file at the path of an absent model is a new model', async () => {
  const registry = await start();
  const folder = await pulledModel(registry);
  rmSync(join(folder, 'a.gguf'));
  await registry.scan();
  put(join(folder, 'a.gguf'), chat('Other', 384));
  await registry.scan();
  expect(registry.get('a')).toMatchObject({ name: 'Other', source: 'scan', repo: null, binding: null });
});

test('a disk that does not report whether a file exists removes no model', async () => {
  const registry = await start();
  const folder = await pulledModel(registry);
  put(join(folder, 'b.gguf'));
  await registry.scan();
  renameSync(folder, join(home, 'away'));
  symlinkSync(folder, folder);
  await registry.scan();
  expect(ids(registry)).toEqual(['a', 'b']);
  expect(ids(await start())).toEqual(['a', 'b']);
});

test('the id of an absent model moves with its file, and to no other file', async () => {
  const folder = join(models, 'sub');
  mkdirSync(folder);
  const first = put(join(models, 'a.gguf'));
  const registry = await start();
  await registry.change('a', { binding: 'slot:agent' });
  renameSync(first, join(home, 'a.gguf'));
  await registry.scan();
  put(join(folder, 'a.gguf'), chat('Other', 384));
  await registry.scan();
  expect(ids(registry)).toEqual(['a-2']);
  const other = join(models, 'other');
  mkdirSync(other);
  renameSync(join(home, 'a.gguf'), join(other, 'a.gguf'));
  await registry.scan();
  expect(registry.get('a')).toMatchObject({ path: join(other, 'a.gguf'), binding: 'slot:agent' });
});

test('an absent model can be removed', async () => {
  const file = put(join(models, 'a.gguf'));
  const registry = await start();
  await registry.change('a', { binding: 'slot:agent' });
  renameSync(file, join(home, 'a.gguf'));
  await registry.scan();
  expect(await registry.remove('a')).toBe(0);
  await expect(registry.remove('a')).rejects.toMatchObject({ code: 'model.not_found' });
  renameSync(join(home, 'a.gguf'), file);
  await registry.scan();
  expect(registry.get('a')?.binding).toBeNull();
});

test('a damaged file is a problem with its reason and is read again only after a change', async () => {
  const file = put(join(models, 'bad.gguf'), 'text');
  const registry = await start();
  expect(registry.problems()).toMatchObject([{ file: 'bad.gguf', reason: 'it is not a GGUF file' }]);
  put(file);
  await registry.scan();
  expect(registry.problems()).toEqual([]);
  expect(ids(registry)).toContain('bad');
});

test('a file whose reader cannot be started is a model at the next scan', async () => {
  const node = process.execPath;
  put(join(models, 'a.gguf'));
  try {
    process.execPath = join(home, 'no-reader');
    const registry = await start({}, { readMetadata: readMetadataInChild });
    expect(registry.problems()).toMatchObject([{ file: 'a.gguf', reason: 'its header could not be read' }]);
    process.execPath = node;
    await registry.scan();
    expect([ids(registry), registry.problems()]).toEqual([['a'], []]);
  } finally {
    process.execPath = node;
  }
});

test('a repaired file with the same size and time is read again', async () => {
  const file = join(models, 'a.gguf');
  const good = chat('Tiny');
  const date = new Date(1_700_000_000_000);
  put(file, Buffer.alloc(good.length));
  utimesSync(file, date, date);
  const registry = await start();
  expect(registry.problems()).toHaveLength(1);
  put(file, good);
  utimesSync(file, date, date);
  await registry.scan();
  expect([ids(registry), registry.problems()]).toEqual([['a'], []]);
});

test('SVC_MODEL is served by slot agent, even if another model is larger', async () => {
  put(join(models, 'large.gguf'), chat('Large', 384));
  const named = put(join(home, 'named.gguf'));
  const registry = await start({ SVC_MODEL: named });
  expect(registry.chatModelFor()?.path).toBe(named);
  expect(registry.chatModelFor('large')?.id).toBe('large');
  expect(registry.chatModelFor('large', 'agent')?.path).toBe(named);
});

test('slot agent uses the largest model that fits on its device', async () => {
  put(join(models, 'small.gguf'));
  put(join(models, 'large.gguf'), chat('Large', 384));
  const memoryBytes = (device: string) => (device === 'cuda:0' ? 0 : 2 ** 40);
  const registry = await start({}, { memoryBytes });
  const chosen = (device?: string) => registry.chatModelFor(null, 'agent', device)?.id;
  expect([chosen(), chosen('auto'), chosen('cuda:0')]).toEqual(['large', 'large', 'small']);
});

test('the slot file overrides models.agent but not --model', async () => {
  const [one, two] = [put(join(home, 'one.gguf')), put(join(home, 'two.gguf'))];
  mkdirSync(join(home, 'config'), { recursive: true });
  writeFileSync(join(home, 'config', 'config.toml'), `[models]\nagent = ${JSON.stringify(one)}\n`);
  put(join(models, 'slot.gguf'));
  const file = await start();
  expect(file.chatModelFor('slot', 'agent')?.id).toBe('slot');
  expect(file.chatModelFor(null, 'agent')?.id).toBe('one');
  const line = await start({}, { modelOverride: two });
  expect(line.chatModelFor('slot', 'agent')?.id).toBe('two');
});

test('a registered model is known at the next start', async () => {
  const named = put(join(home, 'named.gguf'));
  await start({}, { modelOverride: named });
  expect((await start()).chatModelFor()?.path).toBe(named);
});

test('a slot may name a model by id or path; an unknown one is null', async () => {
  const file = put(join(models, 'a.gguf'));
  const registry = await start();
  expect(registry.chatModelFor('a')?.path).toBe(file);
  expect(registry.chatModelFor(file)?.id).toBe('a');
  expect(registry.chatModelFor('nothing')).toBeNull();
});

const UNUSABLE = [
  ['missing', 'missing.gguf', null, /missing\.gguf, which can't be used: the file does not exist/],
  ['damaged', 'bad.gguf', Buffer.from('text'), /it is not a GGUF file/],
  ['no chat model', 'embed.gguf', encodeGguf(tinyEmbed()), /not a chat model/],
] as const;

test.each(UNUSABLE)('--model that is %s stops the start with advice', async (_, name, bytes, message) => {
  const path = join(home, name);
  if (bytes !== null) put(path, bytes);
  const failure = await start({}, { modelOverride: path }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SetupError);
  expect((failure as SetupError).message).toMatch(message);
  expect((failure as SetupError).message).toContain('--model');
  expect((failure as SetupError).advice).not.toBe('');
});

test.each(UNUSABLE)(
  'SVC_MODEL that is %s is a problem, and slot agent uses another model',
  async (_, name, bytes, why) => {
    const path = join(home, name);
    if (bytes !== null) put(path, bytes);
    put(join(models, 'other.gguf'));
    const registry = await start({ SVC_MODEL: path });
    expect(registry.chatModelFor(null, 'agent')?.id).toBe('other');
    const [problem, ...more] = registry.settingProblems();
    expect([problem?.file, problem?.message, more]).toEqual(['environment', expect.stringMatching(why), []]);
    expect(problem?.message).toMatch(/^SVC_MODEL names [^/]+; slot agent has another model$/);
  },
);

test('SVC_MODEL whose disk is mounted after the start is used once it is complete', async () => {
  const path = join(home, 'disk', 'late.gguf');
  put(join(models, 'large.gguf'), chat('Large', 384));
  const registry = await start({ SVC_MODEL: path }, { retryMs: 20 });
  expect(registry.chatModelFor()?.id).toBe('large');
  mkdirSync(join(home, 'disk'));
  put(path, chat('Late').subarray(0, 2000));
  await expect.poll(() => registry.settingProblems()[0]?.message).not.toMatch(/does not exist/);
  put(path, chat('Late'));
  await expect.poll(() => registry.chatModelFor()).toMatchObject({ id: 'late' });
  expect(registry.settingProblems()).toEqual([]);
});

test('registers a file by path and refuses an invalid one with the reason', async () => {
  const registry = await start();
  const model = await registry.register(put(join(home, 'later.gguf')));
  expect(registry.get('later')).toEqual(model);
  await expect(registry.register(join(home, 'none.gguf'))).rejects.toThrow('the file does not exist');
  await expect(registry.register(home)).rejects.toThrow('it is a folder');
});

test('expands ~/ to the home folder of the user', async () => {
  vi.stubEnv('HOME', home);
  const registry = await start();
  put(join(home, 'own.gguf'));
  expect(await registry.register('~/own.gguf')).toMatchObject({ id: 'own', path: join(home, 'own.gguf') });
  vi.unstubAllEnvs();
});

test('overlapping scans share one run', async () => {
  const registry = await start();
  put(join(models, 'a.gguf'));
  await Promise.all([registry.scan(), registry.scan()]);
  expect(events.filter((event) => event === 'added a')).toHaveLength(1);
});

test('a scan requested during a scan sees files added in between', async () => {
  const [reading, mayRead] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const readMetadata: MetadataReader = async (paths) => {
    if (paths.length > 0) {
      reading.resolve();
      await mayRead.promise;
    }
    return readInProcess(paths);
  };
  const registry = await start({}, { readMetadata });
  put(join(models, 'a.gguf'));
  const folder = join(models, 'late');
  const first = registry.scan();
  await reading.promise;
  mkdirSync(folder);
  put(join(folder, 'b.gguf'));
  const second = registry.scan();
  mayRead.resolve();
  await second;
  expect(ids(registry)).toContain('b');
  await first;
});

test('with a failing store only the registered models are lost at a restart', async () => {
  const failing = () => {
    throw new GatewayError('internal', {});
  };
  const broken = { upsert: failing, remove: failing, all: failing, get: failing };
  put(join(models, 'a.gguf'));
  const registry = await start({}, { store: { models: broken, keyValue: store.keyValue } });
  expect(ids(registry)).toEqual(['a']);
});

test('without a writable folder for the demonstration model there are no models', async () => {
  const blocked = join(home, 'blocked');
  writeFileSync(blocked, 'a file where a folder should be');
  chmodSync(blocked, 0o400);
  expect(ids(await start({}, { demoFolder: blocked }))).toEqual([]);
});
