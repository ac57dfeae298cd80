import { expect, test } from 'vitest';
import { type PoolingHeader, poolingOf } from './embedding-pooling.ts';

const header = (keys: object) => ({ general: { architecture: 'bert' }, bert: keys }) as PoolingHeader;

test.each([1, 2, 3])('pooling %i produces one vector', (pooling_type) => {
  expect(poolingOf(header({ pooling_type }))).toBe(pooling_type);
});

test.each([{}, { pooling_type: 0 }, { pooling_type: 4 }, { pooling_type: '1' }])('%j does not', (keys) => {
  expect(() => poolingOf(header(keys))).toThrow('bert.pooling_type');
});

test('refuses a header without an architecture', () => {
  expect(() => poolingOf({})).toThrow('does not state');
});
