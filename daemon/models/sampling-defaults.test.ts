import { expect, test } from 'vitest';
import { asSamplingDefaults, samplingDefaults } from './sampling-defaults.ts';

const read = (values: Record<string, unknown>) => samplingDefaults((key) => values[key]);

test.each<[Record<string, unknown>, object]>([
  [{}, {}],
  [{ temp: 0 }, { temperature: 0 }],
  [
    { temp: Math.fround(0.6), top_p: Math.fround(0.95), top_k: 20 },
    { temperature: 0.6, top_p: 0.95, top_k: 20 },
  ],
  [
    { top_k: 1, min_p: 0 },
    { top_k: 1, min_p: 0 },
  ],
  [
    { xtc_probability: 0.5, xtc_threshold: 0.25, penalty_last_n: 64, penalty_repeat: Math.fround(1.1) },
    { xtc_probability: 0.5, xtc_threshold: 0.25, repeat_last_n: 64, repeat_penalty: 1.1 },
  ],
  // Values that no request may have, and keys that the embedded engine has no sampler for.
  [{ temp: -1, top_p: 2, top_k: 1.5, min_p: Number.NaN, penalty_last_n: -1, penalty_repeat: 0 }, {}],
  [{ temp: '0.5', sequence: 'kpm', mirostat: 2, mirostat_tau: 5 }, {}],
])('reads %j', (values, expected) => {
  expect(read(values)).toEqual(expected);
});

test('reads whole numbers of 64 bits', () => {
  expect(read({ top_k: 40n })).toEqual({ top_k: 40 });
});

test.each<[unknown, object]>([
  [{ temperature: 0, other: 1, top_k: 'x' }, { temperature: 0 }],
  [null, {}],
  [undefined, {}],
  ['x', {}],
])('reads stored %j', (value, expected) => {
  expect(asSamplingDefaults(value)).toEqual(expected);
});
