import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { cudaCommand, installedBackends } from './llama-backends.ts';

test('counts a backend only with its binaries and on its platform', () => {
  const folder = scratch();
  mkdirSync(join(folder, '@node-llama-cpp/linux-x64-vulkan/bins'), { recursive: true });
  mkdirSync(join(folder, '@node-llama-cpp/linux-x64-cuda'), { recursive: true });
  expect(installedBackends([folder], 'linux-x64')).toEqual(['cpu', 'vulkan']);
  expect(installedBackends([folder], 'linux-arm64')).toEqual(['cpu']);
  expect(installedBackends([], 'linux-x64')).toEqual(['cpu']);
});

test.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'Vulkan is part of this installation',
  () => {
    expect(installedBackends()).toContain('vulkan');
  },
);

test('CUDA needs one command, which differs in a package', () => {
  expect(cudaCommand()).toBe('npm run cuda');
  expect(cudaCommand(import.meta.filename)).toBe(`sudo ${import.meta.filename}`);
});
