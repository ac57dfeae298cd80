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

const { signal } = new AbortController();
const help = (path: string, env = {}) => programHelp(path, { env, signal });

test('the help of a program is read once, from both outputs, until its file or its variables change', async () => {
  const path = program('echo "--one $1 $X"; echo --two >&2; exit 1');
  expect(await help(path)).toMatch(/--one --help\s+--two/);
  expect(await help(path)).toContain('--two');
  expect(readFileSync(`${path}.calls`, 'utf8')).toBe('call\n');
  expect(await help(path, { X: 'set' })).toContain('--one --help set');
  writeFileSync(path, '#!/bin/sh\necho a longer help than before\n');
  expect(await help(path)).toContain('longer');
});

test('a program that is absent or prints nothing has no help', async () => {
  expect(await help(join(scratch(), 'absent'))).toBeNull();
  expect(await help(program('exit 0'))).toBeNull();
});

test('output that was cut off is not stored', async () => {
  const path = program(
    '[ -e "$0.second" ] && echo --all && exit; echo --part; touch "$0.second"; exec sleep 60',
  );
  const stop = new AbortController();
  const first = programHelp(path, { env: {}, signal: stop.signal });
  await expect.poll(() => readFileSync(`${path}.second`).length, { timeout: 20_000 }).toBe(0);
  stop.abort();
  expect(await first).toBeNull();
  expect(await help(path)).toBe('--all\n');
});
