import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { forbidWrites, memoryDb } from './testing.ts';

function failing() {
  const { db, faults, clock, lines } = memoryDb();
  const insert = db.prepare("INSERT INTO facts VALUES ('a', '1') ON CONFLICT (key) DO NOTHING");
  return { db, faults, clock, lines, insert: () => insert.run() };
}

test('a background write returns its error and pauses the next ones', () => {
  const { db, faults, clock, insert } = failing();
  forbidWrites(db, true);
  expect(faults.attempt('facts', insert)).toMatchObject({ code: 'SQLITE_READONLY' });
  expect(faults.isPaused()).toBe(true);
  expect(faults.state()).toMatchObject({ failing: 'it is read-only', failures: 1, damaged: false });
  clock.ms += 5_000;
  expect(faults.isPaused()).toBe(false);
  forbidWrites(db, false);
  expect(faults.attempt('facts', insert)).toBeUndefined();
  expect(faults.state().failing).toBeNull();
});

test('a caller that depends on the write gets store.unavailable', () => {
  const { db, faults, insert } = failing();
  forbidWrites(db, true);
  const error = (() => {
    try {
      return faults.write('memory', insert);
    } catch (thrown) {
      return thrown;
    }
  })() as GatewayError;
  expect(error).toBeInstanceOf(GatewayError);
  expect(error.code).toBe('store.unavailable');
  expect(error.headers()).toMatchObject({ 'x-should-retry': 'false' });
});

test('rethrows an error that is not from the database and does not count it as a fault', () => {
  const { faults } = failing();
  const wrong = () => {
    throw new TypeError('a bug');
  };
  expect(() => faults.read('x', wrong)).toThrow(TypeError);
  expect(faults.attempt('x', wrong)).toBeInstanceOf(TypeError);
  expect(faults.state()).toMatchObject({ failing: null, failures: 2 });
});

test('logs a thousand failures as one line a minute', () => {
  const { db, faults, clock, lines, insert } = failing();
  forbidWrites(db, true);
  for (let i = 0; i < 1_000; i++) faults.attempt('facts', insert);
  expect(lines).toHaveLength(1);
  clock.ms += 60_000;
  faults.attempt('facts', insert);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ level: 'error', msg: 'database: it is read-only', failures: 1_001 });
});
