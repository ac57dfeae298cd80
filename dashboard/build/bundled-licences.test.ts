import { join } from 'node:path';
import { expect, it } from 'vitest';
import { noticesOf, packageOf } from './bundled-licences.ts';

const modules = join(import.meta.dirname, '..', '..', 'node_modules');

it.each([
  ['/a/node_modules/react/index.js', '/a/node_modules/react'],
  ['/a/node_modules/@x/y/dist/z.js?commonjs', '/a/node_modules/@x/y'],
  ['\0/a/node_modules/b/node_modules/c/index.js', '/a/node_modules/b/node_modules/c'],
  ['/a/dashboard/app/main.tsx', null],
])('%j belongs to %j', (id, folder) => {
  expect(packageOf(id)).toBe(folder);
});

it('lists each package once, with its licence text', () => {
  const text = noticesOf([
    join(modules, 'react', 'index.js'),
    join(modules, 'react', 'jsx-runtime.js'),
    join(modules, 'wouter', 'esm', 'index.js'),
    '/own/app/main.tsx',
  ]);
  expect(text.match(/^react \d\S+ \(MIT\)$/gm)).toHaveLength(1);
  expect(text).toMatch(/^wouter \d/m);
  expect(text).toContain('Permission is hereby granted');
});
