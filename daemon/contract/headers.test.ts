import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REQUEST_HEADERS, RESPONSE_HEADERS } from './headers.ts';

const DAEMON = join(import.meta.dirname, '..');

test('every x-svc header in the code is in a table', () => {
  const sources = globSync('{http,inference,routes,upstreams}/**/*.ts', { cwd: DAEMON })
    .filter((file) => !/\.test\.ts$|testing/.test(file))
    .map((file) => readFileSync(join(DAEMON, file), 'utf8'));
  const named = new Set(sources.flatMap((text) => text.match(/(?<=')x-svc-[a-z-]+(?=')/g) ?? []));
  expect(named.size).toBeGreaterThan(8);
  expect([...named].filter((name) => !(name in RESPONSE_HEADERS) && !(name in REQUEST_HEADERS))).toEqual([]);
});

test('names are lower case, as Node and CORS compare them', () => {
  for (const name of [...Object.keys(RESPONSE_HEADERS), ...Object.keys(REQUEST_HEADERS)])
    expect(name).toMatch(/^[a-z-]+$/);
});
