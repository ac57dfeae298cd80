import { mkdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { espeakDataFault, findEspeakData } from './espeak-data.ts';
import { writeEspeakData } from './onnx/testing/tone-piper.ts';

let home: string;
beforeEach(() => {
  home = scratch();
  mkdirSync(join(home, 'models', 'piper', 'en'), { recursive: true });
});
const find = () => findEspeakData(join(home, 'models', 'piper', 'en'), [join(home, 'system')]);

test('the nearest rules are used: those next to the voice, above it, then those of the system', async () => {
  expect(await find()).toBeNull();
  const system = writeEspeakData(join(home, 'system'));
  expect(await find()).toBe(system);
  const above = writeEspeakData(join(home, 'models'));
  expect(await find()).toBe(above);
  const own = writeEspeakData(join(home, 'models', 'piper', 'en'));
  expect(await find()).toBe(own);
});

test('rules that are not complete are skipped', async () => {
  const own = writeEspeakData(join(home, 'models', 'piper', 'en'));
  const system = writeEspeakData(join(home, 'system'));
  rmSync(join(own, 'phondata'));
  expect(await espeakDataFault(own)).toBe('espeak-ng-data is not complete: phondata is missing');
  expect(await find()).toBe(system);
  truncateSync(join(system, 'phontab'));
  expect(await find()).toBeNull();
});
