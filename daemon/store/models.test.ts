import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { modelsRepo } from './models.ts';
import { aModel } from './testing/rows.ts';
import { forbidWrites, memoryDb } from './testing.ts';

test('returns a row unchanged', () => {
  const { db, faults } = memoryDb();
  const repo = modelsRepo(db, faults);
  const bare = aModel({
    id: 'a/b:c',
    architecture: null,
    enable_thinking: null,
    demo: false,
    binding: null,
    file: null,
    files: [],
    auto_slot: null,
    context_length: null,
    memory: {},
  });
  repo.upsert(aModel());
  repo.upsert(bare);
  expect(repo.all()).toEqual([bare, aModel()]);
  expect(repo.get('a/b:c')).toEqual(bare);
  expect(repo.get('nothing')).toBeNull();
});

test('replacing keeps the time of creation', () => {
  const { db, faults } = memoryDb();
  const repo = modelsRepo(db, faults);
  repo.upsert(aModel());
  repo.upsert(aModel({ name: 'New', created: 5, enable_thinking: true }));
  expect(repo.all()).toEqual([aModel({ name: 'New', enable_thinking: true })]);
});

test('removing returns whether the row existed', () => {
  const { db, faults } = memoryDb();
  const repo = modelsRepo(db, faults);
  repo.upsert(aModel());
  expect([repo.remove('demo'), repo.remove('demo'), repo.all()]).toEqual([true, false, []]);
});

test('a failing database throws', () => {
  const { db, faults } = memoryDb();
  const repo = modelsRepo(db, faults);
  forbidWrites(db, true);
  expect(() => repo.upsert(aModel())).toThrow(GatewayError);
  expect(repo.all()).toEqual([]);
});
