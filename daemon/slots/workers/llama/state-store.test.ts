import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { scratch } from '../../../lib/testing/scratch.ts';
import { listStates, modelFolderName, statePaths } from '../../kv-cache/state-files.ts';
import type { KvCacheConfig } from '../protocol.ts';
import { modelDigest } from './model-digest.ts';
import { sharedLength } from './state-description.ts';
import { type StateSettings, settingsDigest } from './state-fingerprint.ts';
import { type StatefulSequence, StateStore } from './state-store.ts';

const SETTINGS: StateSettings = {
  library: '3.22.1',
  engine: 'b9000',
  device: 'cpu',
  window: 8192,
  kvCacheKeyType: 1,
  kvCacheValueType: 1,
  flashAttention: false,
};
/** More than the first megabyte, so that the rest is sampled. */
const MODEL_BYTES = 3 << 20;

let config: KvCacheConfig;
let modelPath: string;
beforeEach(() => {
  const root = scratch();
  modelPath = join(scratch(), 'model.gguf');
  writeFileSync(modelPath, Buffer.alloc(MODEL_BYTES, 1));
  utimesSync(modelPath, 1_000, 1_000);
  const limits = { maxBytes: 1 << 30, maxStates: 64 };
  config = { root, folder: join(root, modelFolderName('m')), ...limits, survivesRestart: true };
});

const conversation = (length: number, number = 1): number[] =>
  Array.from({ length }, (_, index) => number * 1_000_000 + index);

/** A sequence whose state is its tokens. */
class FakeSequence implements StatefulSequence {
  tokens: number[];
  readonly mustMatchWhole: boolean;

  constructor(tokens: number[] = [], mustMatchWhole = false) {
    this.tokens = tokens;
    this.mustMatchWhole = mustMatchWhole;
  }

  shared = (tokens: readonly number[]) => sharedLength(this.tokens, tokens);
  async settle() {}
  async saveState(path: string) {
    writeFileSync(path, JSON.stringify(this.tokens));
  }
  async loadState(path: string) {
    this.tokens = JSON.parse(readFileSync(path, 'utf8')) as number[];
  }
  async reset() {
    this.tokens = [];
  }
}

const open = async (settings: StateSettings = SETTINGS) =>
  StateStore.open(config, { model: await modelDigest(modelPath), settings: settingsDigest(settings) });

async function save(tokens: number[]) {
  await (await open()).save([new FakeSequence(tokens)], 1000);
  expect(listStates(config.root).length).toBeGreaterThan(0);
}

async function restore(tokens: number[], settings?: StateSettings, sequence = new FakeSequence()) {
  const result = await (await open(settings)).restore(sequence, tokens);
  return { result, held: sequence.tokens.length };
}

describe('a saved state', () => {
  it.each([
    ['disk', true],
    ['memory', false],
  ])('is restored from %s by a request that continues it', async (from, survivesRestart) => {
    await save(conversation(600));
    config = { ...config, survivesRestart };
    const { result, held } = await restore(conversation(700));
    expect(result).toMatchObject({ tokens: 600, from });
    expect(held).toBe(600);
  });

  const OTHERS: readonly Partial<StateSettings>[] = [
    { library: '3.22.2' },
    { engine: 'b9001' },
    { device: 'vulkan' },
    { window: 4096 },
    { kvCacheKeyType: 8 },
    { kvCacheValueType: 8 },
    { flashAttention: true },
  ];
  it.each(OTHERS)('of other settings (%j) is never used, and stays for them', async (other) => {
    await save(conversation(600));
    expect(await restore(conversation(700), { ...SETTINGS, ...other })).toEqual({
      result: 'settings_changed',
      held: 0,
    });
    expect((await restore(conversation(700))).held).toBe(600);
  });

  it('is compared by every field of the settings', () => {
    expect(OTHERS.flatMap((each) => Object.keys(each)).sort()).toEqual(Object.keys(SETTINGS).sort());
  });

  const changeByte = (at: number) => () => {
    const bytes = readFileSync(modelPath);
    bytes[at] = 2;
    writeFileSync(modelPath, bytes);
    utimesSync(modelPath, 1_000, 1_000);
  };
  it.each([
    ['size', () => writeFileSync(modelPath, Buffer.alloc(MODEL_BYTES - 1, 1))],
    ['time', () => utimesSync(modelPath, 1_000, 1_001)],
    ['header', changeByte(100)],
    ['weights', changeByte((1 << 20) + 10)],
    ['last weights', changeByte(MODEL_BYTES - 10)],
  ])('of a model file with another %s is never used, and deleted', async (_, change) => {
    await save(conversation(600));
    change();
    expect(await restore(conversation(700))).toEqual({ result: 'model_changed', held: 0 });
    expect(listStates(config.root)).toEqual([]);
  });

  it('that is damaged is computed again, and deleted', async () => {
    await save(conversation(600));
    const [state] = listStates(config.root);
    writeFileSync(statePaths(config.folder, state?.id ?? '').state, '[]');
    expect(await restore(conversation(700))).toEqual({ result: 'damaged', held: 0 });
    expect(listStates(config.root)).toEqual([]);
  });

  it('is not used by a short prompt, nor by another conversation', async () => {
    await save(conversation(600));
    expect(await restore(conversation(255))).toEqual({ result: 'too_short', held: 0 });
    expect(await restore(conversation(600, 2))).toEqual({ result: 'no_saved_prefix', held: 0 });
    expect(await restore([...conversation(127), ...conversation(400, 2)])).toMatchObject({
      result: 'no_saved_prefix',
    });
    expect((await restore([...conversation(128), ...conversation(400, 2)])).held).toBe(600);
  });

  it('of a model that cannot go back is used only when the request continues all of it', async () => {
    await save(conversation(600));
    const changed = [...conversation(500), ...conversation(200, 2)];
    const sliding = () => new FakeSequence([], true);
    expect(await restore(changed, SETTINGS, sliding())).toEqual({ result: 'changed_earlier', held: 0 });
    expect((await restore(conversation(601), SETTINGS, sliding())).held).toBe(600);
  });
});
