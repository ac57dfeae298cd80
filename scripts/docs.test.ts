import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PAGES } from './docs.ts';

it.each(Object.entries(PAGES))('%s matches the tables; else run npm run docs', (path, text) => {
  expect(readFileSync(join(import.meta.dirname, '..', path), 'utf8')).toBe(text());
});
