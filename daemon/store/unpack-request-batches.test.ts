import { expect, test } from 'vitest';
import type { RequestStoryView } from '../contract/system.ts';
import { connect } from './connection.ts';
import { migrate } from './migrations.ts';
import { detailOf, RequestRows } from './request-rows.ts';
import { MIGRATIONS } from './schema.ts';
import { aRequest } from './testing/rows.ts';

const TRACE: RequestStoryView = {
  rule: null,
  lane: null,
  steps: [{ step: 'registry', outcome: 'matched', reason: 'it "serves" ünï\u0000' }],
  before: [],
  waits: null,
  overhead_ms: 0.4,
  degraded: null,
};
const { overhead_ms, ...STORY } = TRACE;
const ALL = 2 ** 18 - 1;
const packed = [ALL, ...Object.values(aRequest()), JSON.stringify(STORY), overhead_ms];

function database(version: number) {
  const db = connect(':memory:');
  migrate(db, MIGRATIONS.slice(0, version));
  return db;
}

/** Migrates a database of version 5 with these batches; each has its last number, its length and its text. */
function migrated(...batches: (readonly [number, number, string])[]) {
  const db = database(5);
  const add = db.prepare("INSERT INTO request_batches VALUES (?, ?, '', '', '', ?)");
  for (const batch of batches) add.run(...batch);
  migrate(db, MIGRATIONS);
  return new RequestRows(db).below(9_999, 9_999).map(({ seq, ...rest }) => ({ seq, ...detailOf(rest) }));
}

test('batches become rows with the same numbers and traces', () => {
  const first = [
    packed,
    [1, 'r2'],
    [(2 ** 10) | (2 ** 15), 502, 'upstream.error'],
    [(2 ** 16) | (2 ** 17), null, null],
  ];
  expect(migrated([7, 4, JSON.stringify(first)], [8, 1, JSON.stringify([packed])])).toEqual([
    { seq: 8, ...aRequest(), story: TRACE },
    { seq: 7, ...aRequest({ id: 'r2', status: 502, error: 'upstream.error' }), story: null },
    { seq: 6, ...aRequest({ id: 'r2', status: 502, error: 'upstream.error' }), story: TRACE },
    { seq: 5, ...aRequest({ id: 'r2' }), story: TRACE },
    { seq: 4, ...aRequest(), story: TRACE },
  ]);
});

test('what is damaged is skipped', () => {
  const torn = [ALL, ...Object.values(aRequest({ id: 'r3' })), '{torn', 1];
  const batches: [number, number, string][] = [
    [1, 1, '[[1,"a'],
    [2, 1, '7'],
    [3, 1, '{}'],
    [6, 3, '[[1,"a"],7,[]]'],
    [7, 1, JSON.stringify([[ALL, ...Object.values(aRequest()).with(10, 'no number')]])],
    [8, 1, JSON.stringify([[ALL, {}]])],
    [9, 1, JSON.stringify([torn])],
  ];
  expect(migrated(...batches)).toEqual([{ seq: 9, ...aRequest({ id: 'r3' }), story: null }]);
});

test('a database of version 4 keeps its requests, in order, with their traces', () => {
  const db = database(4);
  const names = [...Object.keys(aRequest()), 'story'];
  const add = db.prepare(
    `INSERT INTO requests (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  const traces = [JSON.stringify(TRACE), null, '{torn'];
  const before = Array.from({ length: 600 }, (_, at) => aRequest({ id: `r${at}`, slot: null, status: at }));
  before.forEach((record, at) => {
    add.run(...Object.values(record), traces[at % 3]);
  });
  db.prepare("DELETE FROM requests WHERE id IN ('r0', 'r300')").run();
  migrate(db, MIGRATIONS);
  const expected = before
    .map((record, at) => ({ ...record, story: at % 3 === 0 ? TRACE : null }))
    .filter(({ id }) => id !== 'r0' && id !== 'r300');
  const rows = new RequestRows(db);
  expect(rows.below(999, 999).map(detailOf)).toEqual(expected.toReversed());
  expect(rows.find('r450')?.seq).toBe(451);
});
