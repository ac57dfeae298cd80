import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { HealthWatch, WATCH_PACE } from './watch.ts';

const { intervalMs: everyMs, timeoutMs: limitMs, maxMisses: misses } = WATCH_PACE;
let clock: ManualClock;
let watch: HealthWatch;
let asked: AbortSignal[];
let told: number;
let busy: boolean;
let answer: () => Promise<unknown>;

beforeEach(() => {
  clock = new ManualClock();
  asked = [];
  told = 0;
  busy = false;
  answer = async () => 200;
  watch = new HealthWatch(clock, WATCH_PACE, {
    isBusy: () => busy,
    probe: (signal) => {
      asked.push(signal);
      return answer();
    },
    onHung: () => {
      told += 1;
    },
  });
});
afterEach(() => watch.stop());

const silent = () => new Promise(() => {});
const refused = () => Promise.reject(new Error('ECONNREFUSED'));

test('an engine that answers is asked for ever and never told about', async () => {
  await clock.advance(10 * everyMs);
  expect([asked.length, told]).toEqual([10, 0]);
});

test('three questions without an answer in time are a hung engine, told once', async () => {
  answer = silent;
  await clock.advance(misses * (everyMs + limitMs) - 1);
  expect([asked.length, told]).toEqual([3, 0]);
  await clock.advance(1);
  expect(told).toBe(1);
  expect(asked.every((signal) => signal.aborted)).toBe(true);
  await clock.advance(10 * everyMs);
  expect([asked.length, told]).toEqual([3, 1]);
});

test('nobody listening counts at once', async () => {
  answer = refused;
  await clock.advance(misses * everyMs);
  expect(told).toBe(1);
});

test('one answer forgets the misses before it', async () => {
  for (const how of [refused, refused, async () => 503, refused, silent]) {
    answer = how;
    await clock.advance(everyMs);
  }
  await clock.advance(limitMs);
  expect([asked.length, told]).toEqual([5, 0]);
});

test('while an answer is on its way nothing is asked, and earlier misses are forgotten', async () => {
  answer = refused;
  await clock.advance(2 * everyMs);
  busy = true;
  await clock.advance(5 * everyMs);
  expect(asked.length).toBe(2);
  busy = false;
  await clock.advance(2 * everyMs);
  expect([asked.length, told]).toEqual([4, 0]);
});

test('after a stop nothing is asked or told, also when it comes during a question', async () => {
  answer = silent;
  await clock.advance(2 * (everyMs + limitMs) + everyMs);
  watch.stop();
  await clock.advance(10 * everyMs);
  expect([asked.length, told]).toEqual([3, 0]);
});
