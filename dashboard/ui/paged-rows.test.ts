import { expect, it } from 'vitest';
import { type PagedRows, withNewest, withOlder } from './paged-rows.ts';

interface Row {
  id: number;
  word?: string;
}

const how = { idOf: (row: Row) => row.id, page: 3 };
const down = (from: number, to: number): Row[] =>
  Array.from({ length: from - to + 1 }, (_, at) => ({ id: from - at }));
const ids = ({ rows }: PagedRows<Row>): number[] => rows.map(({ id }) => id);
const start: PagedRows<Row> = { rows: down(9, 7), end: false };

it('has no gap when the newest page moves on after an older one was loaded', () => {
  let current = withOlder(start, 7, down(6, 4), how);
  expect(ids(current)).toEqual([9, 8, 7, 6, 5, 4]);
  current = withNewest(current, down(11, 9), how);
  current = withNewest(current, down(13, 11), how);
  expect(ids(current)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4]);
  current = withOlder(current, 4, down(3, 2), how);
  expect(current).toEqual({ rows: down(13, 2), end: true });
});

it('takes rows from the newest page first', () => {
  const current = withNewest(start, [{ id: 9, word: 'ended' }, ...down(8, 7)], how);
  expect(current.rows[0]).toEqual({ id: 9, word: 'ended' });
  expect(ids(current)).toEqual([9, 8, 7]);
});

it('restarts when rows in between are missing', () => {
  const current = withNewest({ rows: down(9, 4), end: true }, down(15, 13), how);
  expect(current).toEqual({ rows: down(15, 13), end: false });
  expect(ids(withNewest({ rows: down(2, 1), end: true }, down(2, 2), how))).toEqual([2, 1]);
});

it('has no gap when the list restarted while an older page was loading', () => {
  const restarted = withNewest(start, down(15, 13), how);
  expect(withOlder(restarted, 7, down(6, 4), how)).toBe(restarted);
});

it('is bounded', () => {
  const bounded = { ...how, max: 4 };
  expect(ids(withOlder(start, 7, down(6, 4), bounded))).toEqual([9, 8, 7, 6]);
  expect(withNewest({ rows: down(9, 6), end: true }, down(10, 8), bounded)).toEqual({
    rows: down(10, 7),
    end: false,
  });
});
