import { expect, test } from 'vitest';
import { advisories } from './advisories.ts';

const report = (vulnerabilities: object) => JSON.stringify({ auditReportVersion: 2, vulnerabilities });

test('no advisories, and minor ones only', () => {
  expect(advisories(report({}))).toEqual({ known: true, severe: [], minor: 0 });
  expect(advisories(report({ a: { severity: 'low' }, b: { severity: 'moderate' } }))).toEqual({
    known: true,
    severe: [],
    minor: 2,
  });
});

test('what no release may ship is named', () => {
  const found = advisories(
    report({
      undici: { severity: 'high', range: '<8.0.1' },
      koa: { severity: 'critical' },
      c: { severity: 'info' },
    }),
  );
  expect(found).toEqual({ known: true, severe: ['undici <8.0.1: high', 'koa: critical'], minor: 1 });
});

test.each([
  [JSON.stringify({ message: '405 Method Not Allowed' }), '405 Method Not Allowed'],
  [JSON.stringify({ error: { code: 'ENOLOCK', summary: 'no lockfile' } }), 'no lockfile'],
  ['', 'npm audit gave no report'],
])('an unreachable registry: %s', (text, why) => {
  expect(advisories(text)).toEqual({ known: false, why });
});
