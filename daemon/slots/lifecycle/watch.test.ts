import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { HealthWatch, WATCH_PACE } from './watch.ts';

const { intervalMs: everyMs, timeoutMs: limitMs, maxMisses: misses } = WATCH_PACE;
let clock: ManualClock;
let watch: HealthWatch;
let probes: AbortSignal[];
let reports: number;
let busy: boolean;
let answer: () => Promise<unknown>;

beforeEach(() => {
  clock = new ManualClock();
  probes = [];
  reports = 0;
  busy = false;
  answer = async () => 200;
  watch = new HealthWatch(clock, WATCH_PACE, {
    isBusy: () => busy,
    probe: (signal) => {
      probes.push(signal);
      return answer();
    },
    onHung: () => {
      reports += 1;
    },
  });
});
afterEach(() => watch.stop());

const silent = () => new Promise(() => {});
const refused = () => Promise.reject(new Error('ECONNREFUSED'));

test('an engine that responds is probed repeatedly and never reported', async () => {
  await clock.advance(10 * everyMs);
  expect([probes.length, reports]).toEqual([10, 0]);
});

test('three probes without a response in time are a hung engine, reported once', async () => {
  answer = silent;
  await clock.advance(misses * (everyMs + limitMs) - 1);
  expect([probes.length, reports]).toEqual([3, 0]);
  await clock.advance(1);
  expect(reports).toBe(1);
  expect(probes.every((signal) => signal.aborted)).toBe(true);
  await clock.advance(10 * everyMs);
  expect([probes.length, reports]).toEqual([3, 1]);
});

test('a closed port counts immediately', async () => {
  answer = refused;
  await clock.advance(misses * everyMs);
  expect(reports).toBe(1);
});

test('one response clears the misses before it', async () => {
  for (const how of [refused, refused, async () => 503, refused, silent]) {
    answer = how;
    await clock.advance(everyMs);
  }
  await clock.advance(limitMs);
  expect([probes.length, reports]).toEqual([5, 0]);
});

test('while a response is in progress no probe is sent, and earlier misses are cleared', async () => {
  answer = refused;
  await clock.advance(2 * everyMs);
  busy = true;
  await clock.advance(5 * everyMs);
  expect(probes.length).toBe(2);
  busy = false;
  await clock.advance(2 * everyMs);
  expect([probes.length, reports]).toEqual([4, 0]);
});

test('after a stop no probe is sent or reported, also when the stop comes during a probe', async () => {
  answer = silent;
  await clock.advance(2 * (everyMs + limitMs) + everyMs);
  watch.stop();
  await clock.advance(10 * everyMs);
  expect([probes.length, reports]).toEqual([3, 0]);
});
