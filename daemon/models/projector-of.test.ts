import { expect, test } from 'vitest';
import { projectorOf } from './projector-of.ts';

test.each<[string, string, string[], string[], string | null]>([
  [
    'the only projector of a folder with one model',
    '/m/a-Q4_K_M.gguf',
    [],
    ['/m/mmproj-F16.gguf'],
    '/m/mmproj-F16.gguf',
  ],
  [
    'also with several quantisations',
    '/m/a-Q4_K_M.gguf',
    ['/m/a-Q8_0.gguf'],
    ['/m/mmproj-model-f16.gguf'],
    '/m/mmproj-model-f16.gguf',
  ],
  [
    'half precision first',
    '/m/a-Q4_K_M.gguf',
    [],
    ['/m/mmproj-F32.gguf', '/m/mmproj-BF16.gguf', '/m/mmproj-F16.gguf'],
    '/m/mmproj-F16.gguf',
  ],
  [
    'the one named after the model',
    '/m/gemma-3-4b-it-Q4_K_M.gguf',
    ['/m/b-Q8_0.gguf'],
    ['/m/mmproj-gemma-3-4b-it-f16.gguf', '/m/mmproj-b-f16.gguf'],
    '/m/mmproj-gemma-3-4b-it-f16.gguf',
  ],
  [
    'with the parts of the name in another order',
    '/m/b-7b-Q8_0.gguf',
    ['/m/a.gguf'],
    ['/m/b-7b-mmproj-f16.gguf'],
    '/m/b-7b-mmproj-f16.gguf',
  ],
  [
    'the one in the parent folder for a repository with a folder per quantisation',
    '/m/Q8_0/a-Q8_0-00001-of-00002.gguf',
    ['/m/Q4_K_M/a-Q4_K_M-00001-of-00002.gguf', '/n/b.gguf'],
    ['/m/mmproj-F16.gguf'],
    '/m/mmproj-F16.gguf',
  ],
  [
    'prefers its folder to the parent folder',
    '/m/q/a.gguf',
    [],
    ['/m/mmproj-F16.gguf', '/m/q/mmproj-F32.gguf'],
    '/m/q/mmproj-F32.gguf',
  ],
  [
    'none from the parent folder when ambiguous',
    '/m/q/a.gguf',
    ['/m/r/s/b.gguf'],
    ['/m/mmproj-F16.gguf'],
    null,
  ],
  ['none from two levels up', '/m/q/r/a.gguf', [], ['/m/mmproj-F16.gguf'], null],
  ['none from another folder', '/m/a.gguf', [], ['/n/mmproj-F16.gguf'], null],
  ['none when ambiguous', '/m/a.gguf', ['/m/b.gguf'], ['/m/mmproj-F16.gguf'], null],
  ['none of another model', '/m/a.gguf', [], ['/m/mmproj-b-F16.gguf'], null],
])('%s', (_, model, siblings, projectors, expected) => {
  expect(projectorOf(model, [model, ...siblings], projectors)).toBe(expected);
});
