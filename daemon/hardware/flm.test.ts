import { expect, test } from 'vitest';
import { parseFlm } from './flm.ts';
import { captured } from './testing/fake-machine.ts';

test('ready', () => {
  expect(parseFlm(captured('amd-strix-halo-npu', 'flm', 'validate', '--json'))).toEqual({
    ready: true,
    problem: null,
  });
});

test('reports the first check to fix', () => {
  const answer = parseFlm(captured('amd-strix-halo-carveout-no-npu', 'flm', 'validate', '--json'));
  expect(answer).toMatchObject({ ready: false, problem: expect.stringContaining('finds no NPU') });
});

test('returns null for an older version that prints text', () => {
  expect(parseFlm('[Linux]  Kernel: 7.1.0\n')).toBeNull();
  expect(parseFlm('[]')).toBeNull();
});
