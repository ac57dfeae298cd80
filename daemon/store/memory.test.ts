import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { MemoryView } from '../contract/system.ts';
import { memoryRepo } from './memory.ts';
import { forbidWrites, memoryDb } from './testing.ts';

function setup() {
  const { db, faults } = memoryDb();
  let now = Date.UTC(2030, 0, 1);
  return { db, repo: memoryRepo(db, faults, () => (now += 1_000)) };
}

test('returns a memory unchanged', () => {
  const { repo } = setup();
  const added = repo.add('The router sits in the attic.', ['home', 'network']);
  expect(MemoryView.parse(added)).toEqual(added);
  expect(added).toMatchObject({ text: 'The router sits in the attic.', tags: ['home', 'network'] });
  expect(added.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(added.created_at).toBe('2030-01-01T00:00:01.000Z');
  expect(repo.get(added.id)).toEqual(added);
  expect(repo.get('nothing')).toBeNull();
});

test('search finds words, beginnings, tags, accents and unspaced text; best first', () => {
  const { repo } = setup();
  repo.add('The router sits in the attic.', ['network']);
  repo.add('Le café est fermé le lundi.', []);
  repo.add('我们在東京見面', []);
  repo.add('Attic window open; attic light on; attic door shut.', []);
  const texts = (query: string) => repo.search(query, 10).map(({ text }) => text.slice(0, 10));
  expect(texts('ROUTERS router')).toEqual(['The router']);
  expect(texts('rout')).toEqual(['The router']);
  expect(texts('network?')).toEqual(['The router']);
  expect(texts('cafe')).toEqual(['Le café es']);
  expect(texts('東京')).toEqual(['我们在東京見面'.slice(0, 10)]);
  expect(texts('京東')).toEqual([]);
  expect(texts('attic')).toEqual(['Attic wind', 'The router']);
  const [best, second] = repo.search('attic', 10);
  expect(best?.score).toBeGreaterThan(second?.score as number);
});

test('query syntax is plain text', () => {
  const { repo } = setup();
  repo.add('plain', []);
  for (const query of ['"', 'a AND', 'text:plain', 'NEAR(', '*', 'plain"', "'; DROP TABLE memories"]) {
    expect(() => repo.search(query, 10)).not.toThrow();
  }
  expect(repo.search('text:plain', 10)).toHaveLength(1);
  expect(repo.search('*', 10)).toEqual([]);
});

test('lists newest first in pages', () => {
  const { repo } = setup();
  for (const text of ['one', 'two', 'three']) repo.add(text, []);
  expect(repo.list(2, 0).map(({ text }) => text)).toEqual(['three', 'two']);
  expect(repo.list(2, 2).map(({ text }) => text)).toEqual(['one']);
  expect(repo.list(2, Number.NaN)).toHaveLength(2);
});

test('a removed memory is completely erased, also from the file', () => {
  const { db, repo } = setup();
  db.pragma('secure_delete = ON');
  const one = repo.add('xylophone practice on fridays', ['zither']);
  const two = repo.add('keep this', []);
  expect([repo.remove(one.id), repo.remove(one.id)]).toEqual([true, false]);
  expect(repo.search('xylophone', 10)).toEqual([]);
  expect(db.serialize().includes('xylophone')).toBe(false);
  expect(db.serialize().includes('zither')).toBe(false);
  expect(repo.list(10, 0)).toEqual([two]);
});

test('removes several or all, and returns how many', () => {
  const { repo } = setup();
  const ids = ['a', 'b', 'c', 'd'].map((text) => repo.add(text, []).id);
  expect(repo.removeMany([ids[0] as string, ids[1] as string, ids[1] as string, 'nothing'])).toBe(2);
  expect(repo.removeAll()).toBe(2);
  expect([repo.list(10, 0), repo.search('c', 10)]).toEqual([[], []]);
  repo.add('c again', []);
  expect(repo.search('c', 10)).toHaveLength(1);
});

test('a row and its words change together or not at all', () => {
  const { db, repo } = setup();
  const { id } = repo.add('word', []);
  forbidWrites(db, true);
  expect(() => repo.add('other', [])).toThrow(GatewayError);
  expect(() => repo.removeAll()).toThrow(GatewayError);
  forbidWrites(db, false);
  expect(repo.search('word', 10).map((found) => found.id)).toEqual([id]);
});

test('stores invalid Unicode as valid text, and its removal leaves the index consistent', () => {
  const { db, repo } = setup();
  const { id, text } = repo.add('half \ud83d emoji\u0000 and more', ['\udc00tag']);
  expect(text).toBe('half \ufffd emoji\u0000 and more');
  expect(repo.search('more', 10)).toHaveLength(1);
  repo.remove(id);
  expect(repo.search('half emoji more tag', 10)).toEqual([]);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('tags are bounded', () => {
  const { repo } = setup();
  const { tags } = repo.add('x', Array(50).fill('t'.repeat(1_000)));
  expect([tags.length, tags[0]?.length]).toEqual([32, 256]);
});
