import { expect, test } from 'vitest';
import { AuditEntry } from '../contract/system.ts';
import { auditRepo } from './audit.ts';
import { forbidWrites, memoryDb } from './testing.ts';

const event = {
  action: 'auth.rotate',
  tier: 'admin',
  address: '192.0.2.1',
  details: { fingerprint: 'abcd1234' },
};
const NOW = () => Date.UTC(2030, 0, 2);

test('newest first, in the shape of the schema, page by page', () => {
  const { db, faults } = memoryDb();
  const { repo } = auditRepo(db, faults, NOW);
  for (const action of ['one', 'two', 'three']) repo.add({ ...event, action });
  const [first, ...rest] = repo.list(2);
  expect(AuditEntry.parse(first)).toEqual({
    id: 3,
    at: '2030-01-02T00:00:00.000Z',
    ...event,
    action: 'three',
  });
  expect(rest.map(({ action }) => action)).toEqual(['two']);
  expect(repo.list(10, 2).map(({ action }) => action)).toEqual(['one']);
});

test('adding never throws: rows are queued in order with their time', () => {
  const { db, faults, clock } = memoryDb();
  const { repo, backlog } = auditRepo(db, faults, NOW);
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  forbidWrites(db, true);
  repo.add({ ...event, action: 'one' });
  repo.add({ ...event, action: 'two', details: loop });
  expect(repo.list(10)).toEqual([]);
  forbidWrites(db, false);
  clock.ms += 5_000;
  backlog.flush();
  expect(repo.list(10).map(({ action }) => action)).toEqual(['two', 'one']);
});

test('old rows are removed, ids are never reused', () => {
  const { db, faults } = memoryDb();
  const { repo } = auditRepo(db, faults, NOW);
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50175)
    INSERT INTO audit SELECT i, '', 'x', NULL, NULL, '{}' FROM n`);
  repo.add(event);
  expect(repo.list(1)[0]?.id).toBe(50_176);
  expect(db.prepare('SELECT min(id), count(*) FROM audit').raw().get()).toEqual([177, 50_000]);
});
