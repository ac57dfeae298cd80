import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RequestTraceView } from '../contract/system.ts';
import { connect } from './connection.ts';
import { migrate } from './migrations.ts';
import { detailOf, queuedRequest, RequestRows } from './request-rows.ts';
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
  conversation: null,
};

function setup() {
  const db = connect(':memory:');
  migrate(db, MIGRATIONS);
  const rows = new RequestRows(db);
  const add = (...ids: string[]) => rows.add(ids.map((id) => queuedRequest(aRequest({ id }))));
  return { db, rows, add };
}

const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const text = fc.string({ unit: 'grapheme', maxLength: 8 });
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
    message: maybe(text),
    reason: maybe(few),
    app: maybe(few),
    user_agent: maybe(few),
    address: maybe(fc.constantFrom('loopback' as const, 'public' as const)),
    overhead: fc.option(maybe(fc.double({ min: 0, max: 1e9, noNaN: true })), { nil: undefined }),
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
      expect(json(rows.between(0, 99, 99).map(detailOf))).toEqual(json(details.toReversed()));
    }),
  );
});

test('numbers continue after removals', () => {
  const { rows, add } = setup();
  const numbers = () => rows.between(0, 99, 99).map(({ seq, record }) => `${seq} ${record.id}`);
  add('a', 'b', 'c');
  expect([rows.newest(), rows.keep(1)]).toEqual([3, true]);
  add('d', 'e');
  expect(numbers()).toEqual(['5 e', '4 d', '3 c']);
  expect(rows.between(3, 5, 9).map(({ seq }) => seq)).toEqual([4]);
  expect(rows.between(0, 99, 2).map(({ seq }) => seq)).toEqual([5, 4]);
  expect([rows.keep(2), rows.keep(2), numbers()]).toEqual([true, false, ['5 e', '4 d']]);
  expect(rows.keep(0)).toBe(true);
  add('f');
  expect(numbers()).toEqual(['6 f']);
});

test('a repeated write of a request changes nothing', () => {
  const { rows, add } = setup();
  add('a', 'b');
  add('b', 'c');
  expect(rows.between(0, 99, 99).map(({ record }) => record.id)).toEqual(['c', 'b', 'a']);
});

test('finds a request by its id', () => {
  const { rows, add } = setup();
  add('10-a', '17-c', '11-long');
  expect(['10-a', '11-long', '17-c'].map((id) => rows.find(id)?.record.id)).toEqual([
    '10-a',
    '11-long',
    '17-c',
  ]);
  expect(['11-la', '', '11-long ', '"'].map((id) => rows.find(id))).toEqual(Array(4).fill(undefined));
});

test('a damaged trace is absent, its request is not', () => {
  const { db, rows } = setup();
  rows.add([queuedRequest(aRequest(), TRACE)]);
  db.prepare("UPDATE requests SET story = '{torn'").run();
  expect(rows.between(0, 9, 9).map(detailOf)).toEqual([{ ...aRequest(), story: null }]);
});

test('plain SQL reads the log', () => {
  const { db, add } = setup();
  add('a', 'b');
  const sql =
    'SELECT model, count(*) AS requests, sum(completion_tokens) AS tokens FROM requests GROUP BY model';
  expect(db.prepare(sql).all()).toEqual([{ model: 'demo', requests: 2, tokens: 10 }]);
});
