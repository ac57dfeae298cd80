import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../../daemon/lib/testing/scratch.ts';

const script = join(import.meta.dirname, '..', '..', 'packaging', 'cuda.sh');

/**
 * STAND-IN for npm, which would download 540 MB: packs the requested package, or fails for names that end
 * with `failsFor`.
 */
const npm = (failsFor: string) => `#!/bin/sh
case "$2" in *${failsFor}) exit 1;; esac
mkdir package && mkdir package/bins && printf %s "$2" > package/bins/asked && tar -czf "$4/x.tgz" package
rm -r package
`;

function run(failsFor = 'nothing') {
  const root = scratch();
  const [modules, bin] = [join(root, 'node_modules'), join(root, 'programs')];
  for (const folder of [
    join(modules, 'node-llama-cpp'),
    join(modules, '@node-llama-cpp/linux-x64-cuda'),
    bin,
  ])
    mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(modules, 'node-llama-cpp', 'package.json'),
    JSON.stringify({ name: 'node-llama-cpp', version: '3.14.5' }, null, 2),
  );
  writeFileSync(join(modules, '@node-llama-cpp/linux-x64-cuda', 'old'), '');
  writeFileSync(join(bin, 'npm'), npm(failsFor), { mode: 0o755 });
  const { status, stderr } = spawnSync('sh', [script, root], {
    cwd: root,
    env: { PATH: `${bin}:${process.env.PATH}` },
    encoding: 'utf8',
  });
  const place = (name: string, file: string) => join(modules, '@node-llama-cpp', name, file);
  return { status, stderr, modules, place };
}

test('installs both packages in the version of the engine, replacing older ones', () => {
  const { status, modules, place } = run();
  expect(status).toBe(0);
  for (const name of ['linux-x64-cuda', 'linux-x64-cuda-ext'])
    expect(readFileSync(place(name, 'bins/asked'), 'utf8')).toBe(`@node-llama-cpp/${name}@3.14.5`);
  expect(existsSync(place('linux-x64-cuda', 'old'))).toBe(false);
  expect(readdirSync(modules).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('changes nothing when one cannot be downloaded, and prints what to do', () => {
  const { status, stderr, modules, place } = run('-ext@3.14.5');
  expect(status).toBe(1);
  expect(stderr).toContain('check the network');
  expect(existsSync(place('linux-x64-cuda', 'old'))).toBe(true);
  expect(readdirSync(modules).filter((name) => name.startsWith('.'))).toEqual([]);
});
