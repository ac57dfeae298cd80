import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'svc-'));
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** Returns a new folder that is removed after the test. Call it in a test or in `beforeEach`. */
export function scratch(): string {
  const folder = newFolder();
  onTestFinished(() => remove(folder));
  return folder;
}

/** Returns a new folder that is removed after all tests. Call it at the top of a test file or a `describe`. */
export function scratchOfFile(): string {
  const folder = newFolder();
  afterAll(() => remove(folder));
  return folder;
}
