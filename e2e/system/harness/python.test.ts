import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratch } from '../../../daemon/lib/testing/scratch.ts';
import { findPython, refusePython } from './python.ts';
import { environmentName } from './python-environment.ts';
import { availableOrSkip, Unavailable } from './unavailable.ts';
import { requirementOf, wheelEntryName } from './wheel-files.ts';

it.each([
  ['3.10.0', true],
  ['3.14.1', true],
  ['4.0.0', true],
  ['3.9.19', false],
  ['2.7.18', false],
])('Python %s is accepted: %s', (version, isAccepted) => {
  expect(refusePython(version) === null).toBe(isAccepted);
});

/** An environment whose only program is a python3 that prints `text`. */
function withPython(text: string): NodeJS.ProcessEnv {
  const folder = join(scratch(), 'bin');
  mkdirSync(folder);
  writeFileSync(join(folder, 'python3'), `#!/bin/sh\necho '${text}'\n`, { mode: 0o755 });
  return { PATH: folder, PYENV_ROOT: folder };
}

it('no python3, an old one and one without venv each have their reason', async () => {
  await expect(findPython({ env: { PATH: scratch() } })).rejects.toThrow(
    /python3 with venv and pip is needed/,
  );
  const old = withPython('{"path": "/usr/bin/python3", "version": "3.8.10"}');
  await expect(findPython({ env: old })).rejects.toThrow('python3 is 3.8.10; install 3.10 or newer');
  const current = withPython('{"path": "/usr/bin/python3", "version": "3.12.4"}');
  expect(await findPython({ env: current })).toEqual({ path: '/usr/bin/python3', version: '3.12' });
});

it('where python3 is too old, a newer one on the path is found', async () => {
  const env = withPython('{"path": "/usr/bin/python3", "version": "3.11.7"}');
  await expect(findPython({ env, minMinor: 12 })).rejects.toThrow('install 3.12 or newer');
  const answer = '{"path": "/opt/python3", "version": "3.13.1"}';
  const folder = join(env.PYENV_ROOT ?? '', 'versions', '3.13.1', 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'python3'), `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
  expect(await findPython({ env, minMinor: 12 })).toEqual({ path: '/opt/python3', version: '3.13' });
  expect(await findPython({ env })).toEqual({ path: '/usr/bin/python3', version: '3.11' });
});

it('a missing prerequisite is one console line and null, another error is rethrown', async () => {
  const lines: string[] = [];
  const skip = (error: Error) =>
    availableOrSkip(
      'Ray',
      () => Promise.reject(error),
      (line) => lines.push(line),
    );
  expect(await skip(new Unavailable('no python3'))).toBeNull();
  expect(lines).toEqual(['SKIPPED, Ray: no python3']);
  await expect(skip(new Error('bug'))).rejects.toThrow('bug');
});

it('names in the cache change with all that the content depends on', () => {
  const python = { path: '/usr/bin/python3', version: '3.12' };
  const names = [
    environmentName('ray', 'a==1', python),
    environmentName('ray', 'a==2', python),
    environmentName('ray', 'a==1', { ...python, version: '3.13' }),
    environmentName('ray', 'a==1', { ...python, path: '/opt/python3' }),
  ];
  expect(names[0]).toMatch(/^ray-py3\.12-[0-9a-f]{16}$/);
  expect(new Set(names).size).toBe(names.length);

  const wheel = { project: 'some-model', version: '1.0', sha256: 'ab', members: { file: 'cd' } };
  expect(requirementOf(wheel)).toBe('some-model==1.0 --hash=sha256:ab\n');
  expect(wheelEntryName(wheel)).not.toBe(wheelEntryName({ ...wheel, sha256: 'ac' }));
  expect(wheelEntryName(wheel)).not.toBe(wheelEntryName({ ...wheel, members: { file: 'ce' } }));
});
