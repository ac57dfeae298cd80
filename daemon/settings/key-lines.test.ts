import { expect, test } from 'vitest';
import { cpuTimer } from '../lib/testing/cpu-time.ts';
import { keyLines } from './key-lines.ts';

test('each key has its first line', () => {
  const text = `# a = 1
a = 1
 "b c"= 2
'd.e' = 3
f.g = 4
f.h = 5
[ i ]
[j.k]
a = 6
no key`;
  expect([...keyLines(text)]).toEqual([
    ['a', 2],
    ['b c', 3],
    ['d.e', 4],
    ['f', 5],
    ['i', 7],
    ['j', 8],
  ]);
});

test('a long line is scanned once', () => {
  const cpuMs = cpuTimer();
  for (const part of [' ', '[ ', 'a', '"', "'", 'a ']) keyLines(part.repeat(500_000));
  expect(cpuMs()).toBeLessThan(2_000);
});
