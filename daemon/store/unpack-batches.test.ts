import { expect, test } from 'vitest';
import type { RequestRecord, RequestTraceView } from '../contract/system.ts';
import { connect } from './connection.ts';
import { migrate } from './migrations.ts';
import { detailOf, RequestRows } from './request-rows.ts';
import { MIGRATIONS } from './schema.ts';
import { aRequest } from './testing/rows.ts';

const TRACE: RequestTraceView = {
  rule: null,
  lane: null,
  steps: [{ step: 'registry', outcome: 'matched', reason: 'it "serves" ünï\u0000' }],
  before: [],
  waits: null,
  overhead_ms: 0.4,
  degraded: null,
};
/** Fields that were added after the first rows were written. */
const LATER = { message: null, reason: null, app: null, user_agent: null, address: null };
const asFirstStored = ({ message, reason, app, user_agent, address, ...record }: RequestRecord) => record;

function database(version: number) {
  const db = connect(':memory:');
  migrate(db, MIGRATIONS.slice(0, version));
  return db;
}

const read = (db: ReturnType<typeof database>) => new RequestRows(db).between(0, 9999, 9999).map(detailOf);

test('a database with one row per request keeps its requests, in order, with their traces', () => {
  const db = database(4);
  const names = [...Object.keys(asFirstStored(aRequest())), 'story'];
  const add = db.prepare(
    `INSERT INTO requests (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  const traces = [JSON.stringify(TRACE), null, '{torn'];
  const all = Array.from({ length: 600 }, (_, at) => aRequest({ id: `r${at}`, slot: null, status: at }));
  all.forEach((record, at) => {
    add.run(...Object.values(asFirstStored(record)), traces[at % 3]);
  });
  db.prepare("DELETE FROM requests WHERE id IN ('r0', 'r300')").run();
  migrate(db, MIGRATIONS);
  const expected = all
    .map((record, at) => ({ ...record, ...LATER, story: at % 3 === 0 ? TRACE : null }))
    .filter(({ id }) => id !== 'r0' && id !== 'r300');
  expect(read(db)).toEqual(expected.toReversed());
  expect(
    db.prepare("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'request_batches%'").pluck().get(),
  ).toBe(0);
});

test('unpacks batches of differences, with fields that were added later', () => {
  const db = database(5);
  const { id, ...first } = aRequest({ id: 'a', app: 'chat', user_agent: 'agent/1' });
  const { message, reason, app, user_agent, address, ...early } = first;
  const whole = [
    (1 << 23) - 1,
    id,
    ...Object.values(early),
    null,
    null,
    message,
    reason,
    app,
    user_agent,
    address,
  ];
  const idOnly = [1, 'b'];
  const idAndStatus = [1 | (1 << 10), 'c', 503];
  const insert = db.prepare('INSERT INTO request_batches VALUES (?, ?, ?, ?, ?, ?)');
  insert.run(3, 3, 'a', 'c', early.at, JSON.stringify([whole, idOnly, idAndStatus]));
  insert.run(4, 1, 'd', 'd', early.at, '[[torn');
  insert.run(6, 2, 'e', 'e', early.at, JSON.stringify([[1, 'no fields'], 7, whole.with(1, 'e')]));
  migrate(db, MIGRATIONS);
  const expected = { ...first, story: null };
  expect(read(db)).toEqual([
    { ...expected, id: 'e' },
    { ...expected, id: 'c', status: 503 },
    { ...expected, id: 'b' },
    { ...expected, id: 'a' },
  ]);
});
