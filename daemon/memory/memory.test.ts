import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { memoryRepo } from '../store/memory.ts';
import { memoryDb } from '../store/testing.ts';
import type { Embedder, EmbedRequest } from './embedder.ts';
import { createMemory } from './memory.ts';

/** A fake embedding model: each number counts a word of its list in the text. */
class CountingEmbedder implements Embedder {
  model = 'first';
  loaded = true;
  words = ['cat', 'kitten', 'car'];
  readonly requests: EmbedRequest[] = [];
  refuse: (text: string) => GatewayError | null = () => null;
  before: (request: EmbedRequest) => Promise<void> | void = () => {};

  current = () => ({ model: this.model, loaded: this.loaded });
  embed = async (request: EmbedRequest) => {
    this.requests.push(request);
    await this.before(request);
    for (const text of request.texts) {
      const error = this.refuse(text);
      if (error) throw error;
    }
    // The model treats `kitten` as similar to `cat`.
    const count = (text: string, word: string) => text.split(word).length - 1;
    const vectors = request.texts.map((text) => [
      count(text, 'cat') + 0.9 * count(text, 'kitten') + 0.01,
      count(text, 'car') + 0.01,
    ]);
    return { model: this.model, vectors };
  };
}

function setUp(embedder: Embedder = new CountingEmbedder()) {
  const { db, faults } = memoryDb();
  const repo = memoryRepo(db, faults, Date.now);
  const memory = createMemory({ repo, embedder, log: recordedLog().log });
  const find = (query: string) =>
    memory.search(query, 10, { tier: 'admin', signal: new AbortController().signal });
  return { db, repo, memory, find };
}

const texts = (found: { memories: { text: string }[] }) => found.memories.map(({ text }) => text);

test('finds memories by similarity without a common word, and by words', async () => {
  const { memory, find } = setUp();
  memory.add('the kitten sleeps', [], 'admin');
  memory.add('the car is red', [], 'admin');
  await memory.idle();
  const found = await find('cat');
  expect(found.mode).toBe('hybrid');
  expect(texts(found)[0]).toBe('the kitten sleeps');
  expect(texts(await find('red cat'))).toContain('the car is red');
});

test('without a responding model, searches by words and reports it', async () => {
  const late = new CountingEmbedder();
  late.refuse = () => new GatewayError('dispatch.upstream_timeout');
  for (const embedder of [late, { current: () => null, embed: late.embed }]) {
    const { memory, find } = setUp(embedder);
    memory.add('the kitten sleeps', [], 'admin');
    expect(await find('kitten')).toMatchObject({ mode: 'words', memories: [{ text: 'the kitten sleeps' }] });
    expect(texts(await find('cat'))).toEqual([]);
  }
});

test('adding and listing load nothing; a search does not wait for a load', async () => {
  const embedder = new CountingEmbedder();
  embedder.loaded = false;
  const { memory, find } = setUp(embedder);
  memory.add('the kitten sleeps', [], 'admin');
  memory.list(10, 0);
  await memory.idle();
  expect(embedder.requests).toEqual([]);
  const load = Promise.withResolvers<void>();
  embedder.before = () => load.promise;
  expect(await find('kitten')).toMatchObject({ mode: 'words', memories: [{ text: 'the kitten sleeps' }] });
  expect(await find('cat')).toMatchObject({ mode: 'words' });
  expect(embedder.requests).toHaveLength(1);
  expect(embedder.requests).toMatchObject([{ background: true }]);
  expect(embedder.requests[0]?.limitMs).toBeGreaterThan(600_000);
  embedder.loaded = true;
  load.resolve();
  await memory.idle();
  expect(await find('cat')).toMatchObject({ mode: 'hybrid', memories: [{ text: 'the kitten sleeps' }] });
  expect(embedder.requests.at(-1)).toMatchObject({ texts: ['cat'], limitMs: 2_000, background: false });
});

test('a shutdown ends the requested load', async () => {
  const embedder = new CountingEmbedder();
  embedder.loaded = false;
  embedder.before = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const { memory, find } = setUp(embedder);
  await find('cat');
  await memory.stop();
  expect(embedder.requests).toHaveLength(1);
});

test('another model embeds all memories again; vectors of the old one are never compared', async () => {
  const embedder = new CountingEmbedder();
  const { memory, find, repo } = setUp(embedder);
  memory.add('the kitten sleeps', [], 'admin');
  await memory.idle();
  expect(repo.vectors.page('first', 0, 10)).toHaveLength(1);
  embedder.model = 'second';
  expect(texts(await find('cat'))).toEqual([]);
  await memory.idle();
  expect(repo.vectors.page('first', 0, 10)).toEqual([]);
  expect(texts(await find('cat'))).toEqual(['the kitten sleeps']);
});

test('a text that the model refuses is skipped alone and not retried', async () => {
  const embedder = new CountingEmbedder();
  embedder.loaded = false;
  embedder.refuse = (text) => (text.includes('bad') ? new GatewayError('context_length_exceeded') : null);
  const { memory, find, repo } = setUp(embedder);
  for (const text of ['kitten one', 'bad kitten', 'kitten two']) memory.add(text, [], 'admin');
  embedder.loaded = true;
  await find('cat');
  await memory.idle();
  expect(repo.vectors.page('first', 0, 10)).toHaveLength(2);
  expect(repo.vectors.pending('first', 0, 10)).toEqual([]);
  const before = embedder.requests.length;
  await find('cat');
  await memory.idle();
  expect(embedder.requests).toHaveLength(before + 1);
});

test('a vector is removed with its memory, and none is stored for a removed one', async () => {
  const { memory, repo, db } = setUp();
  const one = memory.add('the kitten sleeps', [], 'admin');
  memory.add('the car is red', [], 'admin');
  await memory.idle();
  memory.remove(one.id);
  expect(repo.vectors.page('first', 0, 10)).toHaveLength(1);
  repo.vectors.put('first', [{ seq: 1, vector: Buffer.alloc(8) }]);
  expect(repo.vectors.page('first', 0, 10)).toHaveLength(1);
  memory.removeAll();
  expect(db.prepare('SELECT count(*) FROM memory_vectors').pluck().get()).toBe(0);
});

test('a client disconnect ends a search', async () => {
  const { memory } = setUp();
  const control = new AbortController();
  control.abort();
  const failing = new CountingEmbedder();
  failing.refuse = () => new GatewayError('internal');
  const search = setUp(failing).memory.search('x', 1, { tier: 'admin', signal: control.signal });
  await expect(search).rejects.toThrow();
  expect(memory.list(1, 0)).toEqual([]);
});

test('the store accepts 10,000 memories', () => {
  const { db, repo } = setUp();
  db.prepare(
    `INSERT INTO memories (id, text, tags, created_at)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT i, 'x', '[]', 'now' FROM n`,
  ).run();
  expect(() => repo.add('one more', [])).toThrow(
    expect.objectContaining({ code: 'memory.full', status: 507 }),
  );
});
