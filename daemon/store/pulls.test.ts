import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { type PullRow, pullsRepo } from './pulls.ts';
import { forbidWrites, memoryDb } from './testing.ts';

const pull = (change: Partial<PullRow> = {}): PullRow => ({
  id: 'p1',
  repo: 'owner/name',
  file: 'model.gguf',
  state: 'queued',
  bytes: 0,
  total: null,
  etag: null,
  sha256: null,
  revision: null,
  main: 'model.gguf',
  code: null,
  error: null,
  model: null,
  licence: null,
  created: 1_900_000_000_000,
  updated: 1_900_000_000_000,
  ...change,
});

test('stores, updates and removes a job', () => {
  const { db, faults } = memoryDb();
  const repo = pullsRepo(db, faults);
  repo.save(pull());
  repo.save(pull({ id: 'p2', created: 1_900_000_000_001 }));
  repo.save(pull({ state: 'running', total: 7_000_000_000 }));
  repo.progress('p1', 5_000_000_000, 1_900_000_000_500);
  const running = pull({
    state: 'running',
    total: 7_000_000_000,
    bytes: 5_000_000_000,
    updated: 1_900_000_000_500,
  });
  expect(repo.get('p1')).toEqual(running);
  expect(repo.all().map(({ id }) => id)).toEqual(['p2', 'p1']);
  expect([repo.remove('p1'), repo.remove('p1'), repo.get('p1')]).toEqual([true, false, null]);
});

test('retains the newest ended jobs, and all unfinished ones', () => {
  const { db, faults } = memoryDb();
  const repo = pullsRepo(db, faults);
  repo.save(pull({ id: 'open', state: 'paused', updated: 0 }));
  for (let i = 0; i < 210; i++) repo.save(pull({ id: `p${i}`, state: 'done', updated: i, created: i }));
  expect(repo.all()).toHaveLength(201);
  expect([repo.get('open')?.state, repo.get('p9'), repo.get('p10')?.id]).toEqual(['paused', null, 'p10']);
});

test('files are added and removed with their job', () => {
  const { db, faults } = memoryDb();
  const repo = pullsRepo(db, faults);
  const file = { path: 'a/model.gguf', size: 7, sha256: 'ab', blob: null, etag: null };
  repo.add(pull(), [file, { ...file, path: 'config.json', sha256: null, blob: 'cd' }]);
  repo.tag('p1', 'config.json', '"tag"');
  expect(repo.files('p1')).toEqual([
    file,
    { path: 'config.json', size: 7, sha256: null, blob: 'cd', etag: '"tag"' },
  ]);
  expect(() => repo.add(pull({ id: 'p2' }), [file, file])).toThrow();
  expect(repo.get('p2')).toBeNull();
  repo.remove('p1');
  expect(repo.files('p1')).toEqual([]);
});

test('progress never throws, a change of state does', () => {
  const { db, faults } = memoryDb();
  const repo = pullsRepo(db, faults);
  repo.save(pull());
  forbidWrites(db, true);
  repo.progress('p1', 5, 6);
  expect(repo.get('p1')?.bytes).toBe(0);
  expect(() => repo.save(pull({ state: 'done' }))).toThrow(GatewayError);
});
