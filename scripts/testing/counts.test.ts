import { expect, test } from 'vitest';
import { Counts } from './counts.ts';

test('a suite lasts from the start of its first file to the end of its last', () => {
  let now = 1_000;
  const suite = new Counts('unit', () => now);
  suite.begin();
  now = 2_000;
  suite.begin();
  now = 3_240;
  suite.end();
  suite.passed = 7;
  suite.skipped = 1;
  expect(suite.json()).toEqual({ name: 'unit', seconds: 2.2, passed: 7, failed: 0, skipped: 1 });
  expect(suite.line()).toBe('unit            2.2 s  7 passed, 0 failed, 1 skipped');
});

test('a suite whose files never started lasted no time', () => {
  expect(new Counts('unit').json()).toMatchObject({ seconds: 0, passed: 0 });
});
