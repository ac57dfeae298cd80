import fc from 'fast-check';
import { Counter, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { CounterTally, HistogramTally } from './tally.ts';

const BUCKETS = [0.1, 1, 10];
const slot = fc.constantFrom('a', 'b"\\\n');
const act = fc.record({
  slot,
  value: fc.oneof(fc.constantFrom(0, ...BUCKETS), fc.double({ min: 0, max: 20, noNaN: true })),
});

/** Returns the lines of an exposition text, ignoring the order of labels and lines. */
const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`))
    .sort();

test('renders the same text as the library for the same observations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 30 }), async (acts) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const what = { help: 'h', labelNames: ['slot'] };
      const counter = new CounterTally(ours, { ...what, name: 'c' });
      const histogram = new HistogramTally(ours, { ...what, name: 'd', buckets: BUCKETS });
      const counterOfTheirs = new Counter({ ...what, name: 'c', registers: [theirs] });
      const theirHistogram = new Histogram({ ...what, name: 'd', buckets: BUCKETS, registers: [theirs] });
      for (const { slot: name, value } of acts) {
        counter.labels({ slot: name }).inc(value);
        histogram.labels({ slot: name }).observe(value);
        counterOfTheirs.inc({ slot: name }, value);
        theirHistogram.observe({ slot: name }, value);
      }
      expect(lines(await ours.metrics())).toEqual(lines(await theirs.metrics()));
    }),
    { numRuns: 50 },
  );
});

test('a child is rendered from its first addition until it is removed', async () => {
  const registry = new Registry();
  const counter = new CounterTally(registry, { name: 'c', help: 'h', labelNames: ['slot', 'code'] });
  const child = counter.labels({ slot: 'a' });
  expect(await registry.metrics()).not.toContain('c{');
  child.inc(0);
  counter.labels({ slot: 'a' }).inc(2);
  expect(await registry.metrics()).toContain('c{slot="a"} 2');
  counter.remove({ slot: 'a' });
  expect(await registry.metrics()).not.toContain('c{');
});
