import { expect, test } from 'vitest';
import { forbidWrites, memoryDb } from './testing.ts';
import { WriteQueue } from './write-queue.ts';

function setup(limit = 100, batch = 10) {
  const { db, faults, clock } = memoryDb();
  const insert = db.prepare('INSERT INTO facts VALUES (?, ?)');
  const batches: number[] = [];
  let held = false;
  const backlog = new WriteQueue<string | null>({
    faults,
    what: 'test',
    limit,
    batch,
    paused: () => held,
    write: db.transaction((rows: readonly (string | null)[]) => {
      for (const row of rows) insert.run(row, 'v');
      batches.push(rows.length);
    }),
  });
  const stored = () => db.prepare('SELECT key FROM facts ORDER BY key').pluck().all();
  return { db, faults, clock, backlog, batches, stored, pause: (on: boolean) => (held = on) };
}

const letters = [...'abcdefghijklmnopqrstuvwxyz'];

test('writes rows in batches, in order', () => {
  const { backlog, batches, stored } = setup();
  for (const letter of letters) backlog.push(letter);
  expect(backlog.flush()).toBe(false);
  backlog.drain();
  expect(batches).toEqual([10, 10, 6]);
  expect(stored()).toEqual(letters);
});

test('queues rows that cannot be written, and writes them later', () => {
  const { db, backlog, clock, stored, faults } = setup();
  forbidWrites(db, true);
  backlog.push('a');
  expect(backlog.flush()).toBe(false);
  forbidWrites(db, false);
  expect(backlog.flush()).toBe(false);
  clock.ms += 5_000;
  expect(backlog.flush()).toBe(true);
  expect(stored()).toEqual(['a']);
  expect(faults.state().dropped).toBe(0);
});

test('above the limit the oldest are dropped and counted', () => {
  const { db, backlog, faults } = setup(5);
  forbidWrites(db, true);
  for (const letter of letters) backlog.push(letter);
  expect(backlog.pending()).toEqual(['v', 'w', 'x', 'y', 'z']);
  expect(faults.state().dropped).toBe(21);
  backlog.drain();
  expect(backlog.pending()).toHaveLength(5);
});

test('drops only the invalid row', () => {
  const { backlog, stored, faults } = setup();
  for (const row of ['a', null, 'b', 'a', 'c']) backlog.push(row);
  expect(backlog.flush()).toBe(true);
  expect(stored()).toEqual(['a', 'b', 'c']);
  expect(faults.state()).toMatchObject({ dropped: 2, failing: null });
});

test('writes nothing while paused', () => {
  const { backlog, stored, pause } = setup();
  pause(true);
  backlog.push('a');
  backlog.drain();
  expect(stored()).toEqual([]);
  pause(false);
  backlog.drain();
  expect(stored()).toEqual(['a']);
});

test('at the end a failed batch is retried once, paused or not', () => {
  const { db, backlog, faults, stored } = setup();
  forbidWrites(db, true);
  backlog.push('a');
  expect(backlog.flush()).toBe(false);
  expect(faults.isPaused()).toBe(true);
  expect(backlog.drain()).toBe(1);
  forbidWrites(db, false);
  expect(backlog.drain()).toBe(0);
  expect(stored()).toEqual(['a']);
});
