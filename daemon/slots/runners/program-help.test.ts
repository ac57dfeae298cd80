import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { programHelp } from './program-help.ts';

function program(text: string): string {
  const path = join(scratch(), 'program');
  writeFileSync(path, `#!/bin/sh\necho call >> "$0.calls"\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('the help of a program is read once, from both outputs, until the file changes', async () => {
  const path = program('echo "--one $1"; echo --two >&2; exit 1');
  expect(await programHelp(path)).toMatch(/--one --help\s+--two/);
  await Promise.all([programHelp(path), programHelp(path)]);
  expect(readFileSync(`${path}.calls`, 'utf8')).toBe('call\n');
  writeFileSync(path, '#!/bin/sh\necho a longer help than before\n');
  expect(await programHelp(path)).toContain('longer');
});

test('a program that is absent or prints nothing has no help', async () => {
  expect(await programHelp(join(scratch(), 'absent'))).toBe('');
  expect(await programHelp(program('exit 0'))).toBe('');
});
