import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';

/** What a file reads in at its start: types and imports inside functions cost nothing. */
const imports = (text: string): string[] =>
  [
    ...text.matchAll(
      /^(?:import|export) (?!type\b)[^'"]*?from '([^']+)'|^import '([^']+)'|^void import\('([^']+)'\)/gm,
    ),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '');

function importsOf(file: string, modules: Set<string> = new Set()): Set<string> {
  if (modules.has(file)) return modules;
  modules.add(file);
  for (const name of imports(readFileSync(file, 'utf8'))) {
    if (name.startsWith('.')) importsOf(resolve(dirname(file), name), modules);
    else modules.add(name);
  }
  return modules;
}

it('svcctl starts without anything heavy: help and completion need neither schemas nor a network', () => {
  const all = importsOf(resolve(import.meta.dirname, 'main.ts'));
  expect(all.size).toBeGreaterThan(20);
  const packages = [...all].filter((name) => !name.startsWith('/') && !name.startsWith('node:'));
  expect(packages.sort()).toEqual(['commander', 'ipaddr.js', 'lru-cache', 'smol-toml']);
  for (const heavy of [
    'node:http',
    'node:https',
    'node:child_process',
    'node:readline/promises',
    'node:vm',
  ]) {
    expect(all).not.toContain(heavy);
  }
});

it('launchers name the folder of compiled code that the daemon uses', () => {
  const root = resolve(import.meta.dirname, '..', '..');
  const text = (file: string) => readFileSync(resolve(root, file), 'utf8');
  expect(text('scripts/svcctl')).toContain('$here/../.cache/compile');
  expect(text('packaging/debian/svcctl.sh')).toContain('/usr/lib/svc-gateway/.cache/compile');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
  expect(text('scripts/start.mjs')).toContain('NODE_COMPILE_CACHE: `${root}/.cache/compile`');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
  expect(text('daemon/main.ts')).toContain('`${ROOT}/.cache/compile`');
});

it.each(['scripts/svcctl', 'packaging/debian/svcctl.sh', 'scripts/package/npm.ts'])(
  '%s gives svcctl enough heap to end before a collection',
  (launcher) => {
    const text = readFileSync(resolve(import.meta.dirname, '..', '..', launcher), 'utf8');
    expect(text).toContain('--disable-warning=ExperimentalWarning --min-semi-space-size=4');
  },
);

/** In a folder with `file`, a symlink to the program, and `folder`, a symlink to its folder. */
it.each(['file', 'folder/svcctl', 'folder/./svcctl', 'folder//svcctl', 'folder/../scripts/svcctl', './file'])(
  'svcctl of a checkout runs through links: %s',
  (way) => {
    const scripts = resolve(import.meta.dirname, '..', '..', 'scripts');
    const cwd = scratch();
    symlinkSync(join(scripts, 'svcctl'), join(cwd, 'file'));
    symlinkSync(scripts, join(cwd, 'folder'));
    const text = execFileSync(`${cwd}/${way}`, ['--version'], { cwd, encoding: 'utf8' });
    expect(text).toMatch(/^svcctl \d/);
  },
);
