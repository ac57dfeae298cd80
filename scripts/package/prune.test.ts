import { expect, it } from 'vitest';
import { isShipped } from './prune.ts';

it.each([
  ['koa', 'lib/application.js', true],
  ['koa', 'package.json', true],
  ['koa', 'LICENSE', true],
  ['koa', 'README.md', false],
  ['x', 'LICENSE.md', true],
  ['x', 'dist/index.d.ts', false],
  ['x', 'dist/index.js.map', false],
  ['x', '.npmignore', false],
  ['x', 'test/index.js', false],
  ['x', 'lib/test/index.js', true],
  ['better-sqlite3', 'prebuilds/linux-x64.node', true],
  ['better-sqlite3', 'prebuilds/linux-arm64.node', false],
  ['better-sqlite3', 'deps/sqlite3/sqlite3.c', false],
  ['node-llama-cpp', 'llama/gitRelease.bundle', false],
  ['node-llama-cpp', 'llama/addon/addon.cpp', false],
  ['node-llama-cpp', 'llama/grammars/json.gbnf', true],
  ['node-llama-cpp', 'llama/binariesGithubRelease.json', true],
  ['node-llama-cpp', 'dist/index.js', true],
  ['@jsquash/jpeg', 'codec/enc/mozjpeg_enc.wasm', true],
  ['@jsquash/jpeg', 'codec/LICENSE.codec.md', true],
  ['@jsquash/jpeg', 'codec/dec/mozjpeg_dec.wasm', false],
  ['@jsquash/webp', 'codec/dec/webp_dec.js', false],
])('%s %s: %s', (name, file, expected) => {
  expect(isShipped(name, file, 'x64')).toBe(expected);
});
