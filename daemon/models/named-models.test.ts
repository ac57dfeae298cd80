import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { silentLog } from '../lib/log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openSettings } from '../settings/open-settings.ts';
import { openStore } from '../store/store.ts';
import { createRegistry, type Registry } from './registry.ts';
import { tinyChat } from './testing/gguf/tiny-chat.ts';
import { encodeGguf, str } from './testing/gguf/writer.ts';

const log = silentLog();
const ends: (() => void)[] = [];
/** A disk that is no model folder. */
let disk: string;
let registry: Registry;

beforeEach(async () => {
  const home = scratch();
  disk = join(home, 'disk');
  mkdirSync(disk);
  const store = openStore({ folder: join(home, 'state'), log });
  const settings = await openSettings({ env: { SVC_HOME: home, SVC_ESPEAK: 'off' }, log, watch: false });
  const bus = new EventBus<GatewayEvents>();
  registry = await createRegistry({ store, log, bus, settings, firstScanMs: 20_000 });
  ends.push(
    () => store.close(),
    () => settings.close(),
    registry.close,
  );
});
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

const chat = (name: string, width = 0) => encodeGguf(tinyChat({ name, width }));
const projector = () =>
  encodeGguf({
    keys: { 'general.architecture': str('clip'), 'general.type': str('mmproj') },
    tensors: [],
  });
function put(name: string, bytes: Buffer | string): string {
  const path = join(disk, name);
  writeFileSync(path, bytes);
  return path;
}
const ids = () => registry.list().flatMap(({ id, demo }) => (demo ? [] : [id]));

test('a model registered by path is read again when its file changes', async () => {
  const path = put('a.gguf', chat('Small'));
  await registry.register(path);
  await registry.change('a', { binding: 'slot:agent' });
  const { length } = chat('Large', 384);
  put('a.gguf', chat('Large', 384));
  await registry.scan();
  const large = { name: 'Large', size_bytes: length, source: 'register', binding: 'slot:agent' };
  expect(registry.get('a')).toMatchObject(large);
});

test('a damaged file is not usable until it is complete', async () => {
  const path = put('a.gguf', chat('Small'));
  await registry.register(path);
  put('a.gguf', 'text');
  for (const _ of [1, 2]) {
    await registry.scan();
    expect([ids(), registry.problems()]).toMatchObject([
      [],
      [{ file: 'a.gguf', reason: 'it is not a GGUF file', advice: expect.any(String) }],
    ]);
  }
  put('a.gguf', chat('Other', 384));
  await registry.scan();
  expect(registry.get('a')).toMatchObject({ name: 'Other', source: 'register' });
  expect(registry.problems()).toEqual([]);
});

test('a model whose disk was unmounted returns although its file has another date', async () => {
  const path = put('a.gguf', chat('Small'));
  await registry.register(path);
  const unmounted = `${disk}.away`;
  renameSync(disk, unmounted);
  await registry.scan();
  expect(ids()).toEqual([]);
  renameSync(unmounted, disk);
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  await registry.scan();
  await registry.scan();
  expect(registry.get('a')).toMatchObject({ path, source: 'register' });
});

test('a model registered by path gets the projector in its folder, and nothing else of that folder', async () => {
  put('mmproj-seeing-F16.gguf', projector());
  put('mmproj-no-projector.gguf', chat('Hidden'));
  put('other.gguf', chat('Other'));
  const model = await registry.register(put('seeing-Q8_0.gguf', chat('Seeing')));
  expect(model.projectorPath).toBe(join(disk, 'mmproj-seeing-F16.gguf'));
  await registry.scan();
  expect(ids()).toEqual(['seeing-Q8_0']);
  expect(registry.views()).toMatchObject([{ projector: true }]);
});

test('a projector that names no model is not assigned when there are several models, registered or not', async () => {
  put('mmproj-F16.gguf', projector());
  put('other.gguf', chat('Other'));
  const model = await registry.register(put('seeing-Q8_0.gguf', chat('Seeing')));
  expect(model.projectorPath).toBeNull();
});
