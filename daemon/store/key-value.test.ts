import { expect, test } from 'vitest';
import { keyValueRepo } from './key-value.ts';
import { forbidWrites, memoryDb } from './testing.ts';

test('a value takes effect at once and is read by the next start', () => {
  const { db, faults } = memoryDb();
  const { repo } = keyValueRepo(db, faults);
  expect(repo.get('enforcement')).toBeNull();
  repo.set('enforcement', 'on');
  repo.set('enforcement', 'off');
  expect(repo.get('enforcement')).toBe('off');
  expect(keyValueRepo(db, faults).repo.get('enforcement')).toBe('off');
});

test('while writes fail the value stays in memory, and its last state is written later, once', () => {
  const { db, faults, clock } = memoryDb();
  const { repo, backlog } = keyValueRepo(db, faults);
  forbidWrites(db, true);
  for (let i = 0; i < 1_000; i++) repo.set('enforcement', String(i));
  repo.set('other', 'x');
  expect(repo.get('enforcement')).toBe('999');
  expect(backlog.pending()).toHaveLength(2);
  forbidWrites(db, false);
  clock.ms += 5_000;
  backlog.flush();
  expect(keyValueRepo(db, faults).repo.get('enforcement')).toBe('999');
});
