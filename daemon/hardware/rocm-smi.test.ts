import { expect, test } from 'vitest';
import { newDevice } from './device-facts.ts';
import { matchCards, parseRocm, readRocmSmi } from './rocm-smi.ts';
import { captured } from './testing/fake-machine.ts';
import type { Tool } from './tools.ts';

const card = (id: string, deviceId: number) =>
  newDevice({ id, kind: 'gpu', vendor: 'amd', vendorId: 0x1002, deviceId });
const text = captured('amd-dgpu', 'rocm-smi', '--showproductname');

test('parses numbers from strings', () => {
  expect(parseRocm(text)).toEqual([
    {
      id: null,
      deviceId: 0x744c,
      patch: {
        memoryTotal: 21458059264,
        memoryUsed: 27856896,
        memoryFree: 21458059264 - 27856896,
        gttTotal: 33668050944,
        gttUsed: 18432000,
        busyPercent: 0,
        toolAnswered: true,
      },
    },
  ]);
});

test('matches a card by address, else by model when it is the only one', () => {
  const one = card('0000:0b:00.0', 0x744c);
  const other = card('0000:0e:00.0', 0x164e);
  const sameModel = card('0000:0c:00.0', 0x744c);
  expect([...matchCards(parseRocm(text), [one, other]).keys()]).toEqual([one.id]);
  expect(matchCards(parseRocm(text), [one, sameModel]).size).toBe(0);
  const all = captured('amd-dgpu-old-amd-smi', 'rocm-smi', '--showallinfo');
  expect([...matchCards(parseRocm(all), []).keys()]).toEqual(['0000:0b:00.0']);
});

test('an unsupported tool, or a warning instead of JSON, gives nothing', async () => {
  const printing =
    (code: number, stdout: string): Tool =>
    async () => ({
      code,
      stdout,
      stderr: '',
      timedOut: false,
      missing: false,
    });
  const failed = captured('mixed-amd-igpu-nvidia-dgpu', 'rocm-smi', '--showproductname');
  expect(await readRocmSmi(printing(127, failed), [])).toBeNull();
  expect(await readRocmSmi(printing(0, 'WARNING: low-power state'), [])).toBeNull();
});
