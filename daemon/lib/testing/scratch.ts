import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'svc-'));
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** For tests and what runs before each of them: a new folder that goes with the test. */
export function scratch(): string {
  const folder = newFolder();
  onTestFinished(() => remove(folder));
  return folder;
}

/** For the first lines of a test file, or of a `describe`: a new folder that goes after its last test. */
export function scratchOfFile(): string {
  const folder = newFolder();
  afterAll(() => remove(folder));
  return folder;
}
