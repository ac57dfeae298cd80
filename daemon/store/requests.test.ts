import { expect, test } from 'vitest';
import { RequestDetail, type RequestTraceView } from '../contract/system.ts';
import type { Db } from './connection.ts';
import { requestsRepo } from './requests.ts';
import { aRequest } from './testing/rows.ts';
import { forbidWrites, memoryDb } from './testing.ts';

function setup() {
  const { db, faults, clock } = memoryDb();
  const limits = { requestRows: 20_000, usageRows: 50_000 };
  return {
    db,
    faults,
    clock,
    limits,
    ...requestsRepo(db, faults, { paused: () => false, limits: () => limits }),
  };
}

/** Counts requests in the file. */
const stored = (db: Db) => db.prepare('SELECT count(*) FROM requests').pluck().get();

const TRACE: RequestTraceView = {
  rule: 'slot-alias',
  lane: 'agent',
  steps: [{ step: 'registry', outcome: 'matched', reason: 'slot agent has the requested name' }],
  before: [],
  waits: { memory_ms: 0, load_ms: 12, queue_ms: 0 },
  overhead_ms: 0.4,
  degraded: null,
  conversation: null,
};

test('lists a record identically before and after it is written', () => {
  const { repo, backlog } = setup();
  repo.add(aRequest());
  repo.add(aRequest({ id: 'r2', status: null, duration_ms: null }));
  const before = [repo.list(10), repo.get('r1')];
  backlog.drain();
  expect([repo.list(10), repo.get('r1')]).toEqual(before);
  expect(repo.list(10).map(({ id }) => id)).toEqual(['r2', 'r1']);
  expect(RequestDetail.parse(repo.get('r1'))).toEqual({ ...aRequest(), story: null });
  expect(repo.get('r3')).toBeNull();
});

test('reads a trace only with its own record, identically before and after it is written', () => {
  const { db, repo, backlog } = setup();
  repo.add(aRequest(), TRACE);
  const before = repo.get('r1');
  backlog.drain();
  expect(repo.get('r1')).toEqual(before);
  expect(before).toEqual({ ...aRequest(), story: TRACE });
  expect(repo.list(1)[0]).not.toHaveProperty('story');
  db.prepare("UPDATE requests SET story = '{torn'").run();
  expect(repo.get('r1')).toEqual({ ...aRequest(), story: null });
});

test('pages back from any request, written or queued', () => {
  const { repo, backlog } = setup();
  for (let i = 0; i < 4; i++) repo.add(aRequest({ id: `r${i}` }));
  backlog.drain();
  for (let i = 4; i < 8; i++) repo.add(aRequest({ id: `r${i}` }));
  const page = (limit: number, before: string) => repo.list(limit, before)?.map(({ id }) => id) ?? null;
  expect(page(3, 'r6')).toEqual(['r5', 'r4', 'r3']);
  expect(page(3, 'r4')).toEqual(['r3', 'r2', 'r1']);
  expect(page(3, 'r2')).toEqual(['r1', 'r0']);
  expect(page(3, 'r0')).toEqual([]);
  expect(page(3, 'unknown')).toBeNull();
  expect(repo.list(2, null)?.map(({ id }) => id)).toEqual(['r7', 'r6']);
});

test('adding does not access the disk and never throws; the queue is bounded', () => {
  const { db, repo, backlog, faults } = setup();
  forbidWrites(db, true);
  for (let i = 0; i < 1_500; i++) repo.add(aRequest({ id: `r${i}` }));
  expect(faults.state().failures).toBe(0);
  backlog.drain();
  expect(backlog.pending()).toHaveLength(1_000);
  expect(faults.state()).toMatchObject({ dropped: 500, failing: 'it is read-only' });
  expect(repo.list(5)[0]?.id).toBe('r1499');
});

test('a busy gateway loses no row: full batches are written between two ticks', async () => {
  const { db, repo, backlog, faults } = setup();
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 250; i++) repo.add(aRequest({ id: `${round}-${i}` }));
    await turn();
  }
  expect(faults.state().dropped).toBe(0);
  expect(backlog.pending()).toEqual([]);
  expect(stored(db)).toBe(2_500);
});

test('the newest rows stay, step by step, and later rows keep the bound', () => {
  const { db, repo, backlog, usage, limits } = setup();
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 1_000; i++) repo.add(aRequest({ id: `${round}-${i}` }));
    backlog.drain();
  }
  expect(stored(db)).toBe(6_000);
  limits.requestRows = 100;
  const prune = () => [repo.prune({ rows: 100, since: null }), stored(db)];
  expect([prune(), prune(), prune(), prune()]).toEqual([
    [true, 4_000],
    [true, 2_000],
    [true, 100],
    [false, 100],
  ]);
  repo.add(aRequest({ id: 'last' }));
  backlog.drain();
  expect(repo.list(1_000).map(({ id }) => id)).toEqual([
    'last',
    ...Array.from({ length: 99 }, (_, i) => `5-${999 - i}`),
  ]);
  expect([repo.get('5-901')?.id, repo.get('5-900'), repo.list(5, '5-900')]).toEqual(['5-901', null, null]);
  expect(usage.since('2030-01-01')[0]?.requests).toBe(6_001);
});

test('removes old rows step by step; rows after a newer one are removed later', () => {
  const { db, repo, backlog } = setup();
  for (let round = 0; round < 6; round++) {
    const at = `2030-01-0${1 + Math.floor(round / 3)}T00:00:00.000Z`;
    for (let i = 0; i < 1_000; i++) repo.add(aRequest({ id: `${round}-${i}`, at }));
    backlog.drain();
  }
  const bounds = { rows: 10_000, since: '2030-01-02T00:00:00.000Z' };
  expect([repo.prune(bounds), stored(db)]).toEqual([true, 4_000]);
  expect([repo.prune(bounds), stored(db)]).toEqual([true, 3_000]);
  expect([repo.prune(bounds), stored(db)]).toEqual([false, 3_000]);
  expect(repo.prune({ rows: 10_000, since: null })).toBe(false);
  expect(stored(db)).toBe(3_000);
});

test('a prune on a failing disk removes nothing, does not throw and reports nothing to do', () => {
  const { db, repo, backlog } = setup();
  repo.add(aRequest());
  backlog.drain();
  forbidWrites(db, true);
  expect(repo.prune({ rows: 0, since: null })).toBe(false);
  expect(stored(db)).toBe(1);
});

test('truncates long texts from callers', () => {
  const { repo } = setup();
  repo.add(aRequest({ asked: 'a'.repeat(9_999), model: 'm'.repeat(9_999), error: 'e'.repeat(9_999) }));
  expect(repo.get('r1')?.asked).toHaveLength(1024);
  expect(repo.get('r1')?.model).toHaveLength(1024);
  expect(repo.get('r1')?.error).toHaveLength(1024);
});

test('a full log reuses the pages of old rows for new ones', () => {
  const { db, repo, backlog, limits } = setup();
  limits.requestRows = 1_000;
  for (let round = 0; round < 8; round++) {
    for (let i = 0; i < 250; i++) repo.add(aRequest({ id: `${round}-${1_000 + i}` }), TRACE);
    backlog.drain();
  }
  expect(stored(db)).toBe(1_000);
  expect(db.pragma('freelist_count', { simple: true })).toBeLessThan(8);
});
