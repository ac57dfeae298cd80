import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { cudaCommand, installedBackends } from './llama-backends.ts';

test('a backend counts with its binaries and on its platform only', () => {
  const folder = scratch();
  mkdirSync(join(folder, '@node-llama-cpp/linux-x64-vulkan/bins'), { recursive: true });
  mkdirSync(join(folder, '@node-llama-cpp/linux-x64-cuda'), { recursive: true });
  expect(installedBackends([folder], 'linux-x64')).toEqual(['cpu', 'vulkan']);
  expect(installedBackends([folder], 'linux-arm64')).toEqual(['cpu']);
  expect(installedBackends([], 'linux-x64')).toEqual(['cpu']);
});

test.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'Vulkan ships with this installation',
  () => {
    expect(installedBackends()).toContain('vulkan');
  },
);

test('CUDA is one command away, which is another one in a package', () => {
  expect(cudaCommand()).toBe('npm run cuda');
  expect(cudaCommand(import.meta.filename)).toBe(`sudo ${import.meta.filename}`);
});
