import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { DiskTimeout, MountGuard } from '../lib/fs/mount-guard.ts';
import { silentLog } from '../lib/log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openSettings } from '../settings/open-settings.ts';
import { openStore, type Store } from '../store/store.ts';
import { createRegistry, type Registry } from './registry.ts';
import { tinyChat } from './testing/gguf/tiny-chat.ts';
import { encodeGguf, str } from './testing/gguf/writer.ts';

const log = silentLog();
const ends: (() => void)[] = [];
let home: string;
let own: string;
/** A mount from another machine, with a model folder and another folder. */
let nas: string;
let share: string;
let other: string;
let store: Store;

beforeEach(() => {
  home = scratch();
  own = join(home, 'state', 'models');
  nas = join(home, 'nas');
  share = join(nas, 'share');
  other = join(nas, 'other');
  for (const folder of [own, share, other, join(home, 'config')]) mkdirSync(folder, { recursive: true });
  const folders = `[models]\nfolders = [${JSON.stringify(share)}]\n`;
  writeFileSync(join(home, 'config', 'config.toml'), folders);
  store = openStore({ folder: join(home, 'state'), log });
  ends.push(() => store.close());
});
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

/** Blocks operations below `blockedFolder` until it is released. Other operations may take as long as a busy machine needs. */
class BlockingMountGuard extends MountGuard {
  blockedFolder: string | null;
  readonly #free = Promise.withResolvers<void>();
  readonly #stuck: MountGuard;

  constructor(blockedFolder: string | null, ms = 1_500) {
    super({ timeoutMs: 600_000, mounts: () => [nas] });
    this.blockedFolder = blockedFolder;
    this.#stuck = new MountGuard({ timeoutMs: ms, mounts: () => [nas] });
  }

  release(): void {
    this.blockedFolder = null;
    this.#free.resolve();
  }

  override run<T>(folder: string, question: () => Promise<T>): Promise<T> {
    const isStuck = this.blockedFolder !== null && folder.startsWith(this.blockedFolder);
    return isStuck
      ? this.#stuck.run(folder, () => this.#free.promise.then(question))
      : super.run(folder, question);
  }
}

async function start(
  mountGuard: MountGuard = new BlockingMountGuard(null),
  firstScanMs = 20_000,
): Promise<Registry> {
  const settings = await openSettings({ env: { SVC_HOME: home, SVC_ESPEAK: 'off' }, log, watch: false });
  const bus = new EventBus<GatewayEvents>();
  const registry = await createRegistry({ store, log, bus, settings, firstScanMs, mountGuard });
  ends.push(() => settings.close(), registry.close);
  return registry;
}
const chat = (name: string) => encodeGguf(tinyChat({ name }));
function put(folder: string, name: string, bytes = chat(name)): string {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
}
const projector = () =>
  encodeGguf({ keys: { 'general.architecture': str('clip'), 'general.type': str('mmproj') }, tensors: [] });
const ids = (registry: Registry) => registry.list().map(({ id }) => id);

test('a hanging share removes no model, and the other folders are scanned', async () => {
  put(share, 'mmproj-F16.gguf', projector());
  put(share, 'far.gguf');
  const removed = put(own, 'gone.gguf');
  const named = put(other, 'named.gguf');
  await (await start()).register(named);
  rmSync(removed);
  put(own, 'new.gguf');
  const blocked = new BlockingMountGuard(nas);
  const registry = await start(blocked);
  expect(ids(registry)).toEqual(['far', 'named', 'new']);
  expect(registry.get('far')?.projector).toBe(true);
  expect(registry.problems()).toMatchObject([{ file: share, reason: 'its disk does not answer' }]);
  put(share, 'later.gguf');
  blocked.release();
  await vi.waitFor(
    async () => {
      await registry.scan();
      expect(registry.problems()).toEqual([]);
    },
    { timeout: 20_000 },
  );
  expect(ids(registry)).toEqual(['far', 'later', 'named', 'new']);
});

/** A disk that stops responding after a number of operations. */
class FallsSilent extends MountGuard {
  left = Number.POSITIVE_INFINITY;

  override run<T>(folder: string, question: () => Promise<T>): Promise<T> {
    if (folder.startsWith(nas) && this.left-- <= 0) return Promise.reject(new DiskTimeout('silent'));
    return super.run(folder, question);
  }
}

test.each([0, 3, 4, 5])(
  'models of a disk that stops responding after %i operations keep their projectors',
  async (answers) => {
    put(share, 'mmproj-F16.gguf', projector());
    put(share, 'far.gguf');
    put(other, 'mmproj-F16.gguf', projector());
    const mountGuard = new FallsSilent();
    const registry = await start(mountGuard);
    await registry.register(put(other, 'named.gguf'));
    await expect.poll(() => registry.views().map(({ projector }) => projector)).toEqual([true, true]);
    mountGuard.left = answers;
    await registry.scan();
    expect(registry.views()).toMatchObject([
      { id: 'far', projector: true },
      { id: 'named', projector: true },
    ]);
  },
);

test('a start does not wait for a disk', async () => {
  put(share, 'far.gguf');
  await start();
  const registry = await start(new BlockingMountGuard(nas, 600_000), 50);
  expect(ids(registry)).toContain('far');
});

test('refuses a path on a disk that does not respond, with the reason', async () => {
  const registry = await start(new BlockingMountGuard(nas));
  await expect(registry.register(join(other, 'a.gguf'))).rejects.toThrow('its disk does not answer');
});

test('registers a pull although something in its folder does not respond', async () => {
  const blocked = new BlockingMountGuard(null, 500);
  const registry = await start(blocked);
  blocked.blockedFolder = own;
  const pulled = { repo: 'owner/a', revision: 'c0ffee', licence: null, sha256: null };
  expect(await registry.registerPulled({ path: put(own, 'a.gguf'), ...pulled })).toMatchObject({ id: 'a' });
});
