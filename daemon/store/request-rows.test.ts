import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RequestStoryView } from '../contract/system.ts';
import { connect } from './connection.ts';
import { migrate } from './migrations.ts';
import { detailOf, queuedRequest, RequestRows } from './request-rows.ts';
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

function setup() {
  const db = connect(':memory:');
  migrate(db, MIGRATIONS);
  return { db, rows: new RequestRows(db) };
}

const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const text = fc.string({ unit: 'binary', maxLength: 8 });
const few = fc.constantFrom('a', 'b', '');

test('reads what was written, for any sequence', () => {
  const request = fc.record({
    route: few,
    asked: maybe(text),
    model: maybe(few),
    slot: maybe(few),
    status: maybe(fc.integer({ min: 200, max: 599 })),
    duration_ms: maybe(fc.double({ noNaN: true, noDefaultInfinity: true })),
    prompt_tokens: maybe(fc.nat()),
    error: maybe(few),
    overhead: fc.option(maybe(fc.double({ min: 0, noNaN: true })), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(request, { minLength: 1, maxLength: 6 }), (all) => {
      const { rows } = setup();
      const details = all.map(({ overhead, ...change }, at) => {
        const story = overhead === undefined ? null : { ...TRACE, overhead_ms: overhead };
        return { ...aRequest({ ...change, id: `r${at}` }), story };
      });
      rows.add(details.map(({ story, ...record }) => queuedRequest(record, story ?? undefined)));
      const json = (value: unknown) => JSON.parse(JSON.stringify(value));
      expect(rows.below(99, 99).map(detailOf)).toEqual(json(details.toReversed()));
    }),
  );
});

test('numbers continue after removals', () => {
  const { rows } = setup();
  const add = (...ids: string[]) => rows.add(ids.map((id) => queuedRequest(aRequest({ id }))));
  const numbers = () => rows.below(99, 99).map(({ seq, record }) => `${seq} ${record.id}`);
  add('a', 'b');
  add('c');
  expect(rows.keep(1)).toBe(true);
  add('d', 'e');
  expect(numbers()).toEqual(['5 e', '4 d', '3 c']);
  expect(rows.below(5, 9).map(({ seq }) => seq)).toEqual([4, 3]);
  expect(rows.below(99, 2).map(({ seq }) => seq)).toEqual([5, 4]);
  expect([rows.keep(2), rows.keep(2), numbers()]).toEqual([true, false, ['5 e', '4 d']]);
});

test('finds a request by its id with the index', () => {
  const { db, rows } = setup();
  rows.add(['a', 'b', 'c'].map((id) => queuedRequest(aRequest({ id }))));
  expect(['a', 'c', 'd', ''].map((id) => rows.find(id)?.seq)).toEqual([1, 3, undefined, undefined]);
  const plan = db.prepare("EXPLAIN QUERY PLAN SELECT * FROM requests WHERE id = 'a'").get();
  expect(plan).toMatchObject({ detail: expect.stringContaining('requests_by_id') });
});

test('a client of SQLite reads columns and the trace', () => {
  const { db, rows } = setup();
  rows.add([queuedRequest(aRequest({ status: 502, slot: 'agent' }), TRACE)]);
  const sql = "SELECT status, slot, story ->> 'overhead_ms' AS overhead FROM requests WHERE status >= 500";
  expect(db.prepare(sql).all()).toEqual([{ status: 502, slot: 'agent', overhead: 0.4 }]);
});

test('a damaged trace does not hide its request', () => {
  const { db, rows } = setup();
  rows.add([queuedRequest(aRequest(), TRACE)]);
  db.exec("UPDATE requests SET story = '{torn'");
  expect(rows.below(9, 9).map(detailOf)).toEqual([{ ...aRequest(), story: null }]);
});
