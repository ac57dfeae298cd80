import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
}

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const text = readFileSync(join(root, 'docs', 'internals', 'dependencies.md'), 'utf8');

function listed(heading: string): string[] {
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] as string),
  );
}

test('every run-time dependency is listed with its reason, and no removed one', () => {
  const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  expect(listed('At run time').sort()).toEqual(names.sort());
});

test('every other dependency is listed, and no removed one', () => {
  expect(listed('For the dashboard').sort()).toEqual(Object.keys(manifest.devDependencies).sort());
});

test('every package of a tool is listed, at one exact version', () => {
  const tools = globSync('scripts/test-tools/*/package.json', { cwd: root }).map(
    (file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest,
  );
  const named = tools.flatMap(({ dependencies }) => Object.entries(dependencies));
  expect(listed('Tools').sort()).toEqual(named.map(([name]) => name).sort());
  for (const [, version] of named) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

test('the daemon has at most 30 direct dependencies, each at one exact version', () => {
  expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(30);
  for (const version of Object.values({ ...manifest.dependencies, ...manifest.devDependencies })) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  }
});

test('the install runs no package scripts: npm would compile prebuilt parts, with a compiler and headers that few have', () => {
  const env = { PATH: process.env.PATH, HOME: root };
  const setting = execFileSync('npm', ['config', 'get', 'ignore-scripts'], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  expect(setting.trim()).toBe('true');
});
