import { expect, test } from 'vitest';
import { slotConfig } from '../testing/controller-bench.ts';
import { pendingKeys } from './pending-keys.ts';

test.each<[string, string, string, string[]]>([
  ['the window', '', 'context = 2048', ['context']],
  ['another window', 'context = 4096', 'context = 2048', ['context']],
  ['a removed key', 'device = "cpu"', '', ['device']],
  ['the model', 'model = "a"', 'model = "b"', ['model']],
  [
    'several keys',
    'batch = 512',
    'parallel = 3\nspeculation = "ngram"',
    ['parallel', 'batch', 'speculation'],
  ],
  [
    'the address of an attached server',
    'engine = "custom"\nurl = "http://127.0.0.1:1"',
    'engine = "custom"\nurl = "http://127.0.0.1:2"',
    ['url'],
  ],
  [
    'arguments and environment of a program',
    'engine = "llama-server"\nextra_args = ["-v"]',
    'engine = "llama-server"\n[env]\nA = "1"',
    ['extra_args', 'env'],
  ],
  ['the memory', '', 'memory = "8 GiB"', ['memory']],
  [
    'variables in another order',
    'engine = "llama-server"\n[env]\nA = "1"\nB = "2"',
    'engine = "llama-server"\n[env]\nB = "2"\nA = "1"',
    [],
  ],
  ['keys that apply at once', 'pinned = true', 'priority = 3\nidle_unload = 60\nautoload = true', []],
  ['the voice and thinking', '', 'enable_thinking = true\n[voice]\nspeed = 2.0', []],
  [
    'a rewritten file with the same values',
    'context = 2048\nparallel = 2',
    'parallel = 2\ncontext = 2048',
    [],
  ],
])('%s', (_, running, file, keys) => {
  expect(pendingKeys(slotConfig('agent', running), slotConfig('agent', file))).toEqual(keys);
});
