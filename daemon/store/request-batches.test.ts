import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RequestRecord, RequestTraceView } from '../contract/system.ts';
import { connect } from './connection.ts';
import { migrate } from './migrations.ts';
import { detailOf, MAX_BATCH, queuedRequest, RequestBatches } from './request-batches.ts';
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

/** Fields that were added after the first rows were written, as they are read from those rows. */
const LATER = { message: null, reason: null, app: null, user_agent: null, address: null };

/** A request as an earlier version stored it. */
const before = ({ message, reason, app, user_agent, address, ...record }: RequestRecord) => record;

function database(version = MIGRATIONS.length) {
  const db = connect(':memory:');
  migrate(db, MIGRATIONS.slice(0, version));
  return db;
}

function setup() {
  const db = database();
  return { db, batches: new RequestBatches(db) };
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
    message: maybe(text),
    reason: maybe(few),
    app: maybe(few),
    user_agent: maybe(few),
    address: maybe(fc.constantFrom('loopback' as const, 'public' as const)),
    overhead: fc.option(maybe(fc.double({ min: 0, noNaN: true })), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(request, { minLength: 1, maxLength: 6 }), (all) => {
      const { batches } = setup();
      const details = all.map(({ overhead, ...change }, at) => {
        const story = overhead === undefined ? null : { ...TRACE, overhead_ms: overhead };
        return { ...aRequest({ ...change, id: `r${at}` }), story };
      });
      batches.add(details.map(({ story, ...record }) => queuedRequest(record, story ?? undefined)));
      const json = (value: unknown) => JSON.parse(JSON.stringify(value));
      expect(batches.between(0, MAX_BATCH, MAX_BATCH).map(detailOf)).toEqual(json(details.toReversed()));
    }),
  );
});

test('numbers continue across batches, also after removals', () => {
  const { batches } = setup();
  const add = (...ids: string[]) => batches.add(ids.map((id) => queuedRequest(aRequest({ id }))));
  const numbers = () => batches.between(0, 99, 99).map(({ seq, record }) => `${seq} ${record.id}`);
  add('a', 'b');
  add('c');
  expect([batches.newest(), batches.keep(1)]).toEqual([3, true]);
  add('d', 'e');
  expect(numbers()).toEqual(['5 e', '4 d', '3 c']);
  expect(batches.between(3, 5, 9).map(({ seq }) => seq)).toEqual([4]);
  expect(batches.between(0, 99, 2).map(({ seq }) => seq)).toEqual([5, 4]);
  expect([batches.keep(2), batches.keep(2), numbers()]).toEqual([true, false, ['5 e', '4 d']]);
});

test('finds a request by its id, also one that ended long after its neighbours', () => {
  const { batches } = setup();
  for (let hour = 10; hour < 20; hour++) {
    const ids = [`${hour}-a`, hour === 17 ? '11-long' : `${hour}-b`, `${hour}-c`];
    batches.add(ids.map((id) => queuedRequest(aRequest({ id }))));
  }
  const found = ['10-a', '11-long', '17-c', '19-c'].map((id) => batches.find(id)?.record.id);
  expect(found).toEqual(['10-a', '11-long', '17-c', '19-c']);
  expect(['11-la', '09', '20', '', '11-long ', '"'].map((id) => batches.find(id))).toEqual(
    Array(6).fill(undefined),
  );
});

test('similar requests take little space', () => {
  const { db, batches } = setup();
  const all = Array.from({ length: MAX_BATCH }, (_, at) => queuedRequest(aRequest({ id: `r${at}` }), TRACE));
  batches.add(all);
  const bytes = Number(db.prepare('SELECT length(records) FROM request_batches').pluck().get());
  expect(bytes).toBeLessThan(MAX_BATCH * 16);
});

test('reads damaged rows as far as possible', () => {
  const { db, batches } = setup();
  batches.add([queuedRequest(aRequest(), TRACE)]);
  const read = (records: string) => {
    db.prepare('UPDATE request_batches SET records = ?').run(records);
    return batches.between(0, 9, 9).map(detailOf);
  };
  expect([read('[[1,"a'), read('7'), read('{}')]).toEqual([[], [], []]);
  expect(read('[[1,"a"],7,[]]').map(({ id, story }) => [id, story])).toEqual(Array(3).fill(['a', null]));
  const torn = [2 ** 18 - 1, ...Object.values(before(aRequest())), '{torn', 1];
  expect(read(JSON.stringify([torn]))).toEqual([{ ...aRequest(), ...LATER, story: null }]);
});

test('an older database keeps its requests, in order, with their traces', () => {
  const db = database(4);
  const names = [...Object.keys(before(aRequest())), 'story'];
  const add = db.prepare(
    `INSERT INTO requests (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  const traces = [JSON.stringify(TRACE), null, '{torn'];
  const all = Array.from({ length: 600 }, (_, at) => aRequest({ id: `r${at}`, slot: null, status: at }));
  all.forEach((record, at) => {
    add.run(...Object.values(before(record)), traces[at % 3]);
  });
  db.prepare("DELETE FROM requests WHERE id IN ('r0', 'r300')").run();
  migrate(db, MIGRATIONS);
  const expected = all
    .map((record, at) => ({ ...record, ...LATER, story: at % 3 === 0 ? TRACE : null }))
    .filter(({ id }) => id !== 'r0' && id !== 'r300');
  const batches = new RequestBatches(db);
  expect(batches.between(0, 999, 999).map(detailOf)).toEqual(expected.toReversed());
  expect(batches.find('r450')?.seq).toBe(451);
});
