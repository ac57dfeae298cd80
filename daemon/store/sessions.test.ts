import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { pruneRevoked, sessionsRepo } from './sessions.ts';
import { forbidWrites, memoryDb } from './testing.ts';

const HOUR = 3_600;

test('active sessions are neither expired nor revoked, newest first', () => {
  const { db, faults } = memoryDb();
  const { repo } = sessionsRepo(db, faults);
  repo.create('old', 100, 200);
  repo.create('one', 300, 300 + 8 * HOUR);
  repo.create('two', 400, 400 + 8 * HOUR);
  repo.create('three', 500, 500 + 8 * HOUR);
  repo.revoke('two', 400 + 8 * HOUR);
  expect(repo.active(1_000).map(({ id }) => id)).toEqual(['three', 'one']);
  expect(repo.active(1_000)[1]).toEqual({ id: 'one', created_at: 300, expires_at: 300 + 8 * HOUR });
});

test('a revocation survives a restart, also for a session that was never written', () => {
  const { db, faults } = memoryDb();
  const { repo } = sessionsRepo(db, faults);
  repo.create('a', 1, 2);
  repo.revoke('a', 2);
  repo.revoke('b', 2);
  const { repo: next } = sessionsRepo(db, faults);
  expect([next.isRevoked('a'), next.isRevoked('b'), next.isRevoked('c')]).toEqual([true, true, false]);
  next.create('b', 1, 10_000);
  expect(next.active(5)).toEqual([]);
});

test('a revocation applies although the write fails, and is written once the database works again', () => {
  const { db, faults, clock } = memoryDb();
  const { repo, backlog } = sessionsRepo(db, faults);
  repo.create('a', 1, 99_999);
  forbidWrites(db, true);
  repo.revoke('a', 99_999);
  expect(repo.isRevoked('a')).toBe(true);
  expect(repo.active(5)).toEqual([]);
  expect(sessionsRepo(db, faults).repo.isRevoked('a')).toBe(false);
  forbidWrites(db, false);
  clock.ms += 5_000;
  backlog.flush();
  expect(sessionsRepo(db, faults).repo.isRevoked('a')).toBe(true);
});

test('a clock that jumps ten years ahead does not make revoked sessions valid', () => {
  const { db, faults } = memoryDb();
  const { repo } = sessionsRepo(db, faults);
  repo.revoke('a', 2_000);
  repo.prune(2_000 + 10 * 365 * 24 * HOUR);
  expect(repo.isRevoked('a')).toBe(true);
  expect(sessionsRepo(db, faults).repo.isRevoked('a')).toBe(true);
});

test('removes expired sessions beyond the newest ten thousand, and keeps valid ones', () => {
  const { db, faults } = memoryDb();
  const { repo } = sessionsRepo(db, faults);
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10050)
    INSERT INTO sessions SELECT 'old' || i, 0, i, 1 FROM n`);
  repo.create('valid', 1, 99_999);
  repo.prune(50_000);
  expect(db.prepare('SELECT count(*) FROM sessions').pluck().get()).toBe(10_001);
  expect(db.prepare('SELECT min(expires_at) FROM sessions').pluck().get()).toBe(51);
});

test('ending all sessions removes them all', () => {
  const { db, faults } = memoryDb();
  const { repo } = sessionsRepo(db, faults);
  repo.create('a', 1, 99_999);
  repo.revoke('b', 99_999);
  repo.clear();
  expect(repo.active(5)).toEqual([]);
  expect(repo.isRevoked('b')).toBe(false);
  expect(db.prepare('SELECT count(*) FROM sessions').pluck().get()).toBe(0);
});

test('the list throws, the check of a session never fails', () => {
  const { db, faults } = memoryDb();
  const { repo } = sessionsRepo(db, faults);
  repo.revoke('a', 99_999);
  db.exec('DROP TABLE sessions');
  expect(() => repo.active(5)).toThrow(GatewayError);
  expect(repo.isRevoked('a')).toBe(true);
  repo.revoke('b', 99_999);
  expect(repo.isRevoked('b')).toBe(true);
});

test('the list in memory is bounded: removes expired ones first, then those that expire first', () => {
  const revoked = new Map([
    ['a', 5],
    ['b', 9],
    ['c', 7],
    ['d', 1],
  ]);
  pruneRevoked(revoked, 6, 1, 3);
  expect([...revoked.keys()]).toEqual(['b', 'c']);
  pruneRevoked(revoked, 0, 1, 1);
  expect([...revoked.keys()]).toEqual(['b']);
});
