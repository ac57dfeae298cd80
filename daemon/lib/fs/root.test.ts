import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './root.ts';

test('contains package.json and the sources', () => {
  expect(ROOT).toBe(resolve(import.meta.dirname, '..', '..', '..'));
  expect(existsSync(join(ROOT, 'package.json'))).toBe(true);
});
