import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { START_FLAG } from '../../daemon/lib/perf/v8-flags.ts';

const root = join(import.meta.dirname, '..', '..');

it.each([
  'scripts/start.mjs',
  'systemd/svc-gateway.service',
  'packaging/debian/svc-gateway.sh',
  'packaging/Containerfile',
])('%s starts the daemon with the flag of its young generation', (file) => {
  expect(readFileSync(join(root, file), 'utf8')).toContain(START_FLAG);
});
