import { describe, expect, it, test } from 'vitest';
import { CatalogFile, MemoryClass, Purpose } from '../contract/catalog.ts';
import {
  activeBytes,
  estimateHeader,
  installedFrom,
  readCatalog,
  SHIPPED_CATALOG,
  splitPullName,
  typeOf,
} from './catalog.ts';
import { cacheBytes } from './context-memory.ts';
import { isRepoName } from './pulls/hub-names.ts';

const shipped = readCatalog(SHIPPED_CATALOG);
const entry = (name: string) => {
  const found = shipped.entries.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no entry ${name}`);
  return found;
};

describe('the shipped catalogue', () => {
  it('names pullable repositories, and every purpose and memory class has a model', () => {
    expect(shipped.entries.filter(({ model }) => !isRepoName(splitPullName(model).repo))).toEqual([]);
    const purposes = new Set(shipped.entries.map(({ purpose }) => purpose));
    expect(Purpose.options.filter((purpose) => !purposes.has(purpose))).toEqual([]);
    const classes = new Set(shipped.entries.flatMap(({ memory }) => memory));
    expect(MemoryClass.options.filter((one) => !classes.has(one))).toEqual([]);
  });

  it('every text model has a size, a licence and what its context takes, or says that it is not verified', () => {
    for (const one of shipped.entries) {
      expect([one.name, one.size_bytes > 0]).toEqual([one.name, true]);
      if (['stt', 'tts', 'image'].includes(typeOf(one))) continue;
      const isKnown = one.context_memory !== null || one.unverified.includes('architecture');
      expect([one.name, isKnown]).toEqual([one.name, true]);
    }
  });

  it('the quick start is small, and what setup prefers needs nothing to install', () => {
    const quick = shipped.entries.find(({ model }) => model === shipped.quick_start);
    expect(quick?.size_bytes).toBeGreaterThan(100_000_000);
    expect(quick?.size_bytes).toBeLessThan(500_000_000);
    for (const model of Object.values(shipped.preferred).flat()) {
      expect(shipped.entries.find((one) => one.model === model)?.engine).toBe('embedded');
    }
  });

  it.each([
    ['a model twice', (list: typeof shipped) => [...list.entries, ...list.entries], 'lists a model twice'],
    ['no entry for the quick start', (list: typeof shipped) => list.entries.slice(1), 'has no entry for'],
  ])('refuses a list with %s', (_, change, message) => {
    const result = CatalogFile.safeParse({ ...shipped, entries: change(shipped) });
    expect(result.error?.issues[0]?.message).toContain(message);
  });
});

test.each([
  ['Qwen3.8 27B', 65_536 * 131_072 + 156_893_184],
  ['Gemma 4 31B', 81_920 * 131_072 + 819_200 * 1792],
  ['gpt-oss 20B', 24_576 * 131_072 + 24_576 * 768],
  ['Gemma 4 E4B', 16_384 * 131_072 + 40_960 * 1280],
])('F10: the context of %s at 128k is that of its header', (name, bytes) => {
  const { contextMemory } = estimateHeader(entry(name));
  if (contextMemory === null) throw new Error('no sizes');
  expect(cacheBytes(contextMemory, { context: 131_072, stepCells: 513 })).toBe(bytes);
});

test('an encoder has neither a cache nor logits, a decoder reads in steps, and a voice needs no window', () => {
  expect(estimateHeader(entry('BGE Reranker v2 M3')).contextMemory).toMatchObject({
    fullBytesPerToken: 0,
    vocabulary: 0,
  });
  expect(estimateHeader(entry('Qwen3 Embedding 0.6B'))).toMatchObject({ readsInSteps: true });
  expect(estimateHeader(entry('Parakeet TDT 0.6B v3'))).toMatchObject({
    kvBytesPerToken: 0,
    contextMemory: null,
  });
});

test('a mixture of experts reads a part of its weights per token', () => {
  expect(activeBytes(entry('Qwen3.6 35B A3B')) / entry('Qwen3.6 35B A3B').size_bytes).toBeCloseTo(0.087, 2);
  expect(activeBytes(entry('Qwen3.8 27B'))).toBe(entry('Qwen3.8 27B').size_bytes);
  expect(activeBytes(entry('Kokoro 82M multi-lang v1.0'))).toBe(367_000_000);
});

test('finds the installed model of an entry by its repository and file', () => {
  const { repo } = splitPullName(entry('Qwen3.8 27B').model);
  const here = [
    { id: 'Qwen3.8-27B-Q8_0', repo },
    { id: 'Qwen3.8-27B-UD-Q4_K_XL', repo },
  ];
  expect(installedFrom(entry('Qwen3.8 27B'), here)).toBe('Qwen3.8-27B-UD-Q4_K_XL');
  expect(installedFrom(entry('Qwen3.8 27B'), here.slice(0, 1))).toBeNull();
});
