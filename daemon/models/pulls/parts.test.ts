import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { RefusedHop } from '../hub/hop.ts';
import { HubStatus } from '../hub/hub-status.ts';
import { delayMs, MAX_FAILURES, permanentError } from './backoff.ts';
import { matchesExpected } from './digest.ts';
import { Meter } from './meter.ts';
import { Rate } from './rate.ts';
import { MismatchedResponse } from './transfer.ts';

test('shares the rate, and its limit may change at any time', () => {
  let [now, perSecond] = [0, 1000];
  const rate = new Rate(
    () => perSecond,
    () => now,
  );
  expect([rate.delayFor(500), rate.delayFor(500), rate.delayFor(1)]).toEqual([0, 500, 1000]);
  now = 5000;
  expect([rate.delayFor(100), rate.delayFor(100)]).toEqual([0, 100]);
  perSecond = 0;
  expect(rate.delayFor(1e9)).toBe(0);
});

test('measures the speed of the last seconds, null without data', () => {
  let now = 0;
  const meter = new Meter(() => now);
  expect(meter.speed()).toBeNull();
  for (; now <= 4000; now += 500) meter.update(now * 100);
  expect(meter.speed()).toBe(100_000);
  meter.update(0);
  expect(meter.speed()).toBeNull();
  now += 60_000;
  expect(meter.speed()).toBeNull();
});

test('delays double up to a minute, and a hub may request more', () => {
  expect([1, 2, 3, 7, 50].map((failures) => delayMs(failures, null, 1000))).toEqual([
    1000, 2000, 4000, 60_000, 60_000,
  ]);
  expect(delayMs(1, 120, 1000)).toBe(120_000);
});

const judged = (error: unknown, failures = 1, wrong = 0) =>
  permanentError({ error, failures, mismatches: wrong })?.code ?? 'again';
const system = (code: string, syscall?: string) => Object.assign(new Error(code), { code, syscall });

test.each([
  ['a cut connection', judged(system('ECONNRESET', 'read')), 'again'],
  ['a socket that can not be written', judged(system('EPIPE', 'write')), 'again'],
  ['a firewall', judged(system('EPERM', 'connect')), 'again'],
  ['a cut socket', judged(system('UND_ERR_SOCKET')), 'again'],
  ['too many in a row', judged(system('UND_ERR_SOCKET'), MAX_FAILURES), 'pull.hub_unreachable'],
  ['a full disk', judged(system('ENOSPC', 'write')), 'pull.no_space'],
  ['a quota', judged(system('EDQUOT', 'write')), 'pull.no_space'],
  ['a read-only disk', judged(system('EROFS', 'open')), 'pull.write_failed'],
  ['503', judged(new HubStatus(503, null)), 'again'],
  ['429', judged(new HubStatus(429, null)), 'again'],
  ['403 of a storage without a reason', judged(new HubStatus(403, null)), 'again'],
  ['403 again and again', judged(new HubStatus(403, null), 4), 'pull.hub_unreachable'],
  [
    '403 with a token again and again',
    judged(new HubStatus(403, null, { withToken: true }), 4),
    'pull.gated',
  ],
  ['403 with a reason', judged(new HubStatus(403, 'Blocked')), 'pull.hub_unreachable'],
  ['400', judged(new HubStatus(400, null)), 'pull.hub_unreachable'],
  ['a redirect that is not followed', judged(new RefusedHop('x')), 'pull.hub_unreachable'],
  ['a first mismatched response', judged(new MismatchedResponse('x'), 1, 1), 'again'],
  ['a third mismatched response', judged(new MismatchedResponse('x'), 1, 3), 'pull.checksum_mismatch'],
  ['a third web page', judged(new MismatchedResponse('x', 'page'), 1, 3), 'pull.web_page'],
  ['a gateway error', judged(new GatewayError('pull.gated')), 'pull.gated'],
])('%s: %s', (_, outcome, expected) => expect(outcome).toBe(expected));

test('compares a file with the strongest known digest and its size', async () => {
  const folder = scratch();
  const path = join(folder, 'x');
  const bytes = Buffer.from('what was promised');
  writeFileSync(path, bytes);
  const size = bytes.length;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const blob = createHash('sha1').update(`blob ${size}\0`).update(bytes).digest('hex');
  const is = (promise: Parameters<typeof matchesExpected>[1]) =>
    matchesExpected(path, promise, new AbortController().signal);
  expect(await is({ size, sha256, blob: null })).toBe(true);
  expect(await is({ size, sha256: null, blob })).toBe(true);
  expect(await is({ size, sha256: blob.padEnd(64, '0'), blob })).toBe(false);
  expect(await is({ size: size + 1, sha256, blob })).toBe(false);
  expect(await is({ size, sha256: null, blob: null })).toBe(false);
});
