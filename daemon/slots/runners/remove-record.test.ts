import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeRecordFile } from './remove-record.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forget-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('removes a file, and accepts a missing one', () => {
  const logged: string[] = [];
  const file = join(folder, 'agent.json');
  writeFileSync(file, '');
  for (let time = 0; time < 2; time++) removeRecordFile(file, (line) => logged.push(line));
  expect([existsSync(file), logged]).toEqual([false, []]);
});

it('logs a failed removal without the path, and never throws', () => {
  const logged: string[] = [];
  const loop = join(folder, 'run');
  symlinkSync(loop, loop);
  removeRecordFile(join(loop, 'agent.json'), (line) => logged.push(line));
  expect(logged).toEqual(['the run record of the engine could not be removed (ELOOP)']);
  expect(() => removeRecordFile(folder)).not.toThrow();
});
