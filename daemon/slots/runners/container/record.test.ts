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

test('a record is readable for its owner only, survives the clean-up of processes and is removed on demand', () => {
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

test('the key file is readable inside its closed folder, and rewritten for the next start', () => {
  const records = new ContainerRecords(folder);
  records.write('a', record, true);
  records.write('a', { ...record, key: 'l'.repeat(43) }, true);
  expect(readFileSync(records.keyFile('a'), 'utf8')).toBe('l'.repeat(43));
  expect(mode(records.keyFile('a'))).toBe(0o444);
  records.remove('a');
  expect(() => statSync(records.keyFile('a'))).toThrow('ENOENT');
});

test('a record that cannot be removed is logged and stops nothing', () => {
  const records = new ContainerRecords(folder);
  records.write('a', record, true);
  const logged: string[] = [];
  const inner = join(folder, 'containers');
  renameSync(inner, `${inner}.away`);
  symlinkSync(inner, inner);
  records.remove('a', (line) => logged.push(line));
  expect(logged).toHaveLength(2);
  expect(logged.join()).not.toContain(folder);
});

test('an incomplete record counts as missing', () => {
  const records = new ContainerRecords(folder);
  records.write('a', record, false);
  writeFileSync(join(folder, 'containers', 'a.json'), '{"nonce":"');
  expect(records.read('a')).toBeNull();
});

test('the id of a folder is stable, differs between folders, and is not replaced silently', () => {
  const id = stateId(folder);
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(stateId(folder)).toBe(id);
  const copy = scratch();
  writeFileSync(join(copy, 'containers.id'), readFileSync(join(folder, 'containers.id')));
  expect(stateId(copy)).not.toBe(id);
  writeFileSync(join(copy, 'containers.id'), 'torn');
  expect(() => stateId(copy)).toThrow('does not contain an id');
});
