import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NgramSpeed } from '../../models/ngram-speed.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { SlotModel } from '../engines/engine.ts';
import { MODEL, slotConfig } from '../testing/controller-bench.ts';
import { engineKey } from './engine-key.ts';

const FILE = 'model = "tiny"\n';
const keyOf = (text: string, name = 'a', model: SlotModel | null = MODEL) =>
  engineKey(slotConfig(name, FILE + text), model);
const OWN = keyOf('');
const SLOWER: NgramSpeed = { repeats: { off: 10, ngram: 9 }, plain: { off: 10, ngram: 9 } };
const FASTER: NgramSpeed = { repeats: { off: 10, ngram: 20 }, plain: { off: 10, ngram: 10 } };

describe('the key is equal', () => {
  it.each([
    ['for another name', '', 'b'],
    ['for slot agent', '', 'agent'],
    ['when the file spells out a default', 'parallel = 2\ndevice = "auto"\n', 'b'],
    [
      'whatever applies only while it is loaded',
      'pinned = true\npriority = 7\nidle_unload = 0\nautoload = true\n',
      'b',
    ],
    ['whatever the defaults of requests are', 'enable_thinking = false\n', 'b'],
    ['when the window is as large as the model was trained for', 'context = 512\n', 'b'],
    ['when the window is larger than that', 'context = 9999\n', 'b'],
    ['when speculation is off by default', 'speculation = "off"\n', 'b'],
  ])('%s', (_, text, name) => {
    expect(OWN).toEqual(expect.any(String));
    expect(keyOf(text, name)).toBe(OWN);
  });

  it('when a measurement of the model does not change how it starts', () => {
    expect(keyOf('', 'a', { ...MODEL, ngram: SLOWER })).toBe(OWN);
  });

  it('when the file spells out the speculation that a measurement chose', () => {
    expect(keyOf('', 'a', { ...MODEL, ngram: FASTER })).toBe(keyOf('speculation = "ngram"\n'));
    expect(keyOf('', 'a', { ...MODEL, ngram: FASTER })).not.toBe(OWN);
  });

  it('whatever the order of the variables is', () => {
    expect(keyOf('[env]\nA = "1"\nB = "2"\n')).toBe(keyOf('[env]\nB = "2"\nA = "1"\n'));
  });
});

describe('the key differs', () => {
  it.each([
    ['parallel', 'parallel = 1\n'],
    ['context', 'context = 256\n'],
    ['batch', 'batch = 64\n'],
    ['device', 'device = "cpu"\n'],
    ['memory', 'memory = "1 GiB"\n'],
    ['speculation', 'speculation = "ngram"\n'],
    ['env', '[env]\nA = "1"\n'],
    ['engine', 'engine = "llama-server"\n'],
    ['arguments', 'engine = "llama-server"\nextra_args = ["--mlock"]\n'],
    ['command', 'engine = "llama-server"\ncommand = ["/opt/llama-server"]\n'],
  ])('for another %s', (_, text) => {
    const key = keyOf(text);
    expect(key).toEqual(expect.any(String));
    expect(key).not.toBe(OWN);
  });

  it.each([
    ['file', { path: '/m/other.gguf' }],
    ['id', { id: 'other' }],
    ['size, so a file that was replaced is loaded again', { sizeBytes: 2000 }],
    ['window', { contextTrain: 256 }],
    ['projector', { projectorPath: '/m/mmproj.gguf' }],
  ])('for another model %s', (_, change) => {
    expect(keyOf('', 'a', { ...MODEL, ...change })).not.toBe(OWN);
  });
});

describe('there is no key', () => {
  it.each([
    ['a disabled slot', 'enabled = false\n', MODEL],
    [
      'a server that is run by someone else',
      'engine = "llama-server"\nrunner = "attach"\nurl = "http://127.0.0.1:9"\n',
      MODEL,
    ],
    ['a slot without a model', '', null],
    ['a model without a file', '', { ...MODEL, path: null }],
    ['a model of another type', 'type = "embedding"\n', MODEL],
  ])('for %s', (_, text, model) => {
    expect(keyOf(text, 'a', model)).toBeNull();
  });
});

it('two slots have equal keys exactly if the keys that start an engine are equal', () => {
  const settings = fc.record({
    parallel: fc.constantFrom(1, 2, 4),
    context: fc.constantFrom(null, 128, 512),
    batch: fc.constantFrom(null, 64),
    device: fc.constantFrom('auto', 'cpu'),
    memoryBytes: fc.constantFrom(null, 1024),
    env: fc.constantFrom<Record<string, string>>({}, { A: '1' }),
  });
  const rest = fc.record({
    name: fc.constantFrom('a', 'b', 'agent'),
    pinned: fc.boolean(),
    priority: fc.integer({ min: 0, max: 9 }),
    idleUnloadS: fc.integer({ min: 0, max: 900 }),
    autoload: fc.boolean(),
  });
  const base = slotConfig('a', FILE);
  const configOf = (one: Partial<SlotConfig>, other: Partial<SlotConfig>) => ({ ...base, ...one, ...other });
  // A model that was trained for 512 tokens has a window of 512 by default.
  const startOf = ({ context, batch, ...others }: Partial<SlotConfig>) => {
    const window = context ?? 512;
    return JSON.stringify({ ...others, window, batch: Math.min(batch ?? 512, window) });
  };
  fc.assert(
    fc.property(settings, settings, rest, rest, (a, b, ofA, ofB) => {
      const isEqual = engineKey(configOf(a, ofA), MODEL) === engineKey(configOf(b, ofB), MODEL);
      expect(isEqual).toBe(startOf(a) === startOf(b));
    }),
    { numRuns: 500 },
  );
});
