import { readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../../../lib/testing/scratch.ts';
import { endOrphans } from '../../lifecycle/orphans.ts';
import { ContainerRecords } from './record.ts';
import { stateId } from './state-id.ts';

let folder = '';
beforeEach(() => {
  folder = scratch();
});

const record = { nonce: 'n'.repeat(24), key: 'k'.repeat(43) };
const mode = (file: string) => statSync(file).mode & 0o777;

test('a record is for its owner only, outlives the clean-up of processes and is forgotten on demand', () => {
  const records = new ContainerRecords(folder);
  expect(records.read('a')).toBeNull();
  records.write('a', record, false);
  expect(mode(join(folder, 'containers'))).toBe(0o700);
  expect(mode(join(folder, 'containers', 'a.json'))).toBe(0o600);
  expect(endOrphans(folder)).toEqual([]);
  expect(records.read('a')).toEqual(record);
  records.remove('a');
  records.remove('a');
  expect(records.read('a')).toBeNull();
});

test('the file of a key is readable inside its closed folder, and written anew for the next start', () => {
  const records = new ContainerRecords(folder);
  records.write('a', record, true);
  records.write('a', { ...record, key: 'l'.repeat(43) }, true);
  expect(readFileSync(records.keyFile('a'), 'utf8')).toBe('l'.repeat(43));
  expect(mode(records.keyFile('a'))).toBe(0o444);
  records.remove('a');
  expect(() => statSync(records.keyFile('a'))).toThrow('ENOENT');
});

test('a disk that keeps a record stops nothing and is told of', () => {
  const records = new ContainerRecords(folder);
  records.write('a', record, true);
  const told: string[] = [];
  const inner = join(folder, 'containers');
  renameSync(inner, `${inner}.away`);
  symlinkSync(inner, inner);
  records.remove('a', (line) => told.push(line));
  expect(told).toHaveLength(2);
  expect(told.join()).not.toContain(folder);
});

test('a torn record is none', () => {
  const records = new ContainerRecords(folder);
  records.write('a', record, false);
  writeFileSync(join(folder, 'containers', 'a.json'), '{"nonce":"');
  expect(records.read('a')).toBeNull();
});

test('the mark stays for a folder, differs between folders, and is not replaced in silence', () => {
  const mark = stateId(folder);
  expect(mark).toMatch(/^[0-9a-f]{32}$/);
  expect(stateId(folder)).toBe(mark);
  const copy = scratch();
  writeFileSync(join(copy, 'containers.id'), readFileSync(join(folder, 'containers.id')));
  expect(stateId(copy)).not.toBe(mark);
  writeFileSync(join(copy, 'containers.id'), 'torn');
  expect(() => stateId(copy)).toThrow('does not hold an id');
});
