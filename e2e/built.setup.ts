import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'playwright/test';
import { built, sources } from './harness/places.ts';

const index = join(built, 'index.html');

function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return Math.max(...files.map((name) => statSync(join(folder, name)).mtimeMs));
}

test('the dashboard is built', () => {
  if (!existsSync(index)) throw new Error('The dashboard is not built. Run "npm run build" first.');
  if (newest(sources) > statSync(index).mtimeMs)
    console.warn('The built dashboard is older than its sources: "npm run build" brings it up to date.');
});
