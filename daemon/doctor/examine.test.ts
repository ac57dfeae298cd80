import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { listenOnLoopback } from '../lib/testing/listening.ts';
import { examine } from './examine.ts';
import { fail, ok, warn } from './finding.ts';
import { checkPort, listenerOn } from './port-check.ts';
import { reportJson, reportText } from './report.ts';
import { factsOf } from './testing/doctor-input.ts';

it('a check that throws or hangs becomes a finding in order and does not stop others', async () => {
  const checks = {
    broken: () => {
      throw new Error('boom');
    },
    hung: () => new Promise<never>(() => {}),
    good: () => [ok('good', 'Fine.')],
  };
  const found = await examine(await factsOf({}), checks, 20);
  expect(found.map(({ id, status }) => [id, status])).toEqual([
    ['broken', 'warn'],
    ['hung', 'warn'],
    ['good', 'ok'],
  ]);
  expect(found[0]?.message).toContain('boom');
});

it('the text is aligned, fits the width and contains no control characters', () => {
  const found = [
    ok('gateway', 'It answers.'),
    fail(
      'disk',
      `Full\u001b[31m ${'word '.repeat(30)}.`,
      'Free some space there, as much as can be spared, and more than that.',
    ),
    warn('clock', 'Late.', 'Set it.'),
  ];
  const text = reportText(found, 80);
  const lines = text.split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(text).not.toContain('\u001b');
  expect(lines[0]).toBe('ok    gateway       It answers.');
  expect(text).toContain('                    → Free some');
  expect(text.endsWith('1 failure, 1 warning.\n')).toBe(true);
  expect(JSON.parse(reportJson(found))).toMatchObject({
    status: 'fail',
    failures: 1,
    warnings: 1,
    findings: found,
  });
});

it('a port in use is reported with its program; a free one stays free', async () => {
  const server = createServer();
  const port = await listenOnLoopback(server);
  expect(listenerOn(port)).toContain(`(process ${process.pid})`);
  expect(await checkPort('127.0.0.1', port)).toMatchObject({
    state: 'taken',
    by: expect.stringContaining('process'),
  });
  server.close();
  await once(server, 'close');
  expect(await checkPort('127.0.0.1', port)).toEqual({ state: 'free' });
  expect(await checkPort('127.0.0.1', port)).toEqual({ state: 'free' });
  expect(await checkPort('192.0.2.1', port)).toEqual({ state: 'no_address' });
});
