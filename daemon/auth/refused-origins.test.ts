import { expect, test } from 'vitest';
import { RefusedOrigins } from './refused-origins.ts';

test('warns once per origin, and lists the last one first with its count', () => {
  const origins = new RefusedOrigins();
  expect([origins.add('http://a', 1), origins.add('http://b', 2), origins.add('http://a', 3)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(origins.list(new Set())).toEqual([
    { origin: 'http://a', last_at: 3, count: 2 },
    { origin: 'http://b', last_at: 2, count: 1 },
  ]);
});

test('an origin that is allowed by now is not listed', () => {
  const origins = new RefusedOrigins();
  origins.add('http://a', 1);
  expect(origins.list(new Set(['http://a']))).toEqual([]);
});

test('a page that invents origins fills neither the log nor the memory', () => {
  const origins = new RefusedOrigins();
  const warnings = Array.from({ length: 1000 }, (_, at) => origins.add(`http://${at}.test`, at)).filter(
    Boolean,
  );
  expect(warnings).toHaveLength(32);
  expect(origins.list(new Set())).toHaveLength(32);
  expect(origins.list(new Set())[0]?.origin).toBe('http://999.test');
});
