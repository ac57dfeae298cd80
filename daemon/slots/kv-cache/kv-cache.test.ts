import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PersistMode } from '../../contract/kv-cache.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { KEEP_FREE_BYTES } from '../admission/eviction.ts';
import { KvCache, type KvCacheDeps } from './kv-cache.ts';
import { ensurePrivateFolder, listStates, modelFolderName, sweepIncomplete } from './state-files.ts';

const GIB = 1024 ** 3;
let stateFolder: string;
let sharedMemory: string;
let persist: PersistMode;
beforeEach(() => {
  stateFolder = scratch();
  // A folder of the machine's memory, so that its file system is the right one.
  sharedMemory = join('/dev/shm', `svc-test-${process.pid}-${Math.random().toString(36).slice(2)}`);
  mkdirSync(sharedMemory, { mode: 0o700 });
  persist = 'memory';
  const created = sharedMemory;
  return () => rmSync(created, { recursive: true, force: true });
});

const open = (log: Partial<KvCacheDeps['log']> = {}) =>
  new KvCache({
    log: { info: () => {}, warn: () => {}, ...log },
    stateFolder,
    sharedMemory,
    persist: () => persist,
    maxDiskBytes: () => 8 * GIB,
    memoryBytes: () => 16 * GIB,
  });

/** Writes a state like a worker does. `age` in seconds orders them. */
function save(cache: KvCache, model: string, id: string, { bytes = 1000, age = 0 } = {}): void {
  const folder = cache.configFor(model)?.folder ?? '';
  ensurePrivateFolder(folder);
  writeFileSync(join(folder, `${id}.state`), Buffer.alloc(bytes));
  const description = join(folder, `${id}.json`);
  writeFileSync(description, '');
  const at = Date.now() / 1000 - age;
  utimesSync(description, at, at);
}

describe('the saved states', () => {
  test('are in memory by default, with at most a tenth of it', () => {
    const config = open().configFor('qwen/8b');
    expect(config?.root.startsWith(sharedMemory)).toBe(true);
    expect(config).toMatchObject({
      survivesRestart: false,
      folder: expect.stringMatching(/model-qwen%2F8b$/),
    });
    expect(config?.maxBytes).toBeLessThanOrEqual(1.6 * GIB);
  });

  test('are in the state folder on request, and nowhere when off', () => {
    persist = 'disk';
    expect(open().configFor('m')).toMatchObject({
      root: join(stateFolder, 'kv'),
      survivesRestart: true,
      maxBytes: 8 * GIB,
    });
    persist = 'off';
    expect(open().configFor('m')).toBeNull();
  });

  test('are deleted where the owner no longer wants them, at once and at the next start', () => {
    persist = 'disk';
    const cache = open();
    save(cache, 'm', 'one');
    expect(cache.view()).toMatchObject({ states: 1, bytes: 1000 });
    persist = 'memory';
    cache.settingsChanged();
    expect(existsSync(join(stateFolder, 'kv'))).toBe(false);

    persist = 'disk';
    save(open(), 'm', 'one');
    expect(open().view().states).toBe(1);
    persist = 'off';
    open();
    expect(existsSync(join(stateFolder, 'kv'))).toBe(false);
  });

  test('are deleted with their model and by request', () => {
    const cache = open();
    for (const model of ['a', 'b', 'c']) save(cache, model, 'one');
    cache.modelRemoved('a');
    expect(cache.view().models.map(({ model }) => model)).toEqual(['b', 'c']);
    expect(cache.clear('b')).toEqual({ deleted: 1, bytes: 1000 });
    expect(cache.clear('unknown')).toEqual({ deleted: 0, bytes: 0 });
    expect(cache.clear(null)).toEqual({ deleted: 1, bytes: 1000 });
    expect(cache.view()).toMatchObject({ states: 0, bytes: 0 });
  });

  test('of a gateway that has ended are deleted at the next start, and at its own end', () => {
    const abandoned = join(sharedMemory, 'svc-gateway-1-1');
    mkdirSync(abandoned, { mode: 0o700 });
    const cache = open();
    save(cache, 'm', 'one');
    expect(existsSync(abandoned)).toBe(false);
    cache.close();
    expect(readdirSync(sharedMemory)).toEqual([]);
  });

  test('count as available memory, and the oldest give way to a load', () => {
    const cache = open();
    save(cache, 'm', 'old', { bytes: 3000, age: 20 });
    save(cache, 'm', 'new', { bytes: 3000, age: 10 });
    expect(cache.reclaimableBytes()).toBe(6000);
    cache.reclaim(1_000_000, KEEP_FREE_BYTES + 2_000_000);
    expect(cache.view().states).toBe(2);
    cache.reclaim(1_000_000, KEEP_FREE_BYTES + 999_000);
    expect(listStates(cache.configFor('m')?.root ?? '').map(({ id }) => id)).toEqual(['new']);
  });

  test('are not written where their folder is not private', () => {
    const cache = open();
    const root = cache.configFor('m')?.root ?? '';
    cache.close();
    symlinkSync(stateFolder, root);
    expect(cache.configFor('m')).toBeNull();
  });

  test('are not saved in memory where there is no file system in memory', () => {
    sharedMemory = join(stateFolder, 'absent');
    const cache = open();
    expect(cache.configFor('m')).toBeNull();
    expect(cache.view().problem).toMatch(/not a file system in memory/);
  });
});

test('models with similar and long names have their own folders', () => {
  const names = ['a', 'A', 'a/b', 'a%2Fb', '..', 'x'.repeat(300), `${'x'.repeat(300)}y`].map(modelFolderName);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^model-[^/]{1,200}$/);
});

test('what an interrupted save left is deleted, and complete states stay', () => {
  const cache = open();
  save(cache, 'm', 'good');
  const folder = cache.configFor('m')?.folder ?? '';
  for (const name of ['bad.state.1234567.tmp', 'foreign.bin']) writeFileSync(join(folder, name), 'x');
  writeFileSync(join(folder, `bad.state.${process.pid}.tmp`), 'x');
  const lost = join(folder, 'lost.state');
  writeFileSync(lost, 'x');
  utimesSync(lost, 1, 1);
  sweepIncomplete(folder);
  expect(readdirSync(folder).sort()).toEqual([`bad.state.${process.pid}.tmp`, 'good.json', 'good.state']);
});

describe('an engine that cannot restore what it saves', () => {
  test('is named by slot and model, until it can or has another model', () => {
    const cache = open();
    cache.notSaved('old', 'm', 'no option');
    cache.isSaved('new');
    expect(cache.view().unsupported).toEqual([{ slot: 'old', model: 'm', reason: 'no option' }]);
    expect(cache.unsupported('old', 'm')).toBe('no option');
    expect(cache.unsupported('old', 'other')).toBeNull();
    expect(cache.unsupported('new', 'm')).toBeNull();
    cache.isSaved('old');
    expect(cache.unsupported('old', 'm')).toBeNull();
  });

  test('is forgotten after many others', () => {
    const cache = open();
    for (let slot = 0; slot < 100; slot++) cache.notSaved(`s${slot}`, 'm', 'no');
    expect(cache.view().unsupported).toHaveLength(64);
    expect(cache.unsupported('s0', 'm')).toBeNull();
  });
});

describe('a save that was interrupted', () => {
  test('is logged, its files are deleted, and complete states stay', async () => {
    persist = 'disk';
    const warnings: object[] = [];
    const cache = open({ warn: (fields: unknown) => void warnings.push(fields as object) });
    save(cache, 'm', 'whole');
    const folder = cache.configFor('m')?.folder ?? '';
    const ended = spawn('true');
    await once(ended, 'exit');
    writeFileSync(join(folder, `half.state.${ended.pid}.tmp`), 'x');
    cache.interrupted('agent', 'm');
    expect(readdirSync(folder).sort()).toEqual(['whole.json', 'whole.state']);
    expect(warnings).toEqual([{ slot: 'agent', model: 'm' }]);
  });

  test('delays the stop of the gateway only where states survive it', () => {
    const limits = (['off', 'memory', 'disk'] as const).map((mode) => {
      persist = mode;
      return open().saveLimitMs();
    });
    expect(limits).toEqual([0, 0, 30_000]);
  });
});
