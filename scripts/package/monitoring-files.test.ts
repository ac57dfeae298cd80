import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MONITORING_EXAMPLES, PROXY_EXAMPLES } from './debian.ts';

const packaging = join(import.meta.dirname, '..', '..', 'packaging');

test('the package carries every file for Prometheus and Grafana, and the guide names each', () => {
  const here = ['grafana', 'prometheus'].flatMap((folder) =>
    readdirSync(join(packaging, folder)).map((name) => `${folder}/${name}`),
  );
  expect([...MONITORING_EXAMPLES].sort()).toEqual(here.sort());
  const guide = readFileSync(join(packaging, '..', 'docs', 'guide', 'observability.md'), 'utf8');
  for (const file of MONITORING_EXAMPLES) expect(guide).toContain(`packaging/${file}`);
});

test('the guide names every series', () => {
  const guide = readFileSync(join(packaging, '..', 'docs', 'guide', 'observability.md'), 'utf8');
  const series = join(packaging, '..', 'daemon', 'telemetry');
  const code = readdirSync(series, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('.test.'))
    .map((file) => readFileSync(join(series, file), 'utf8'))
    .join('\n');
  const names = new Set([...code.matchAll(/'(svc_\w+)'/g)].map(([, name]) => name));
  expect(names.size).toBeGreaterThan(25);
  for (const name of names) expect(guide, name).toContain(`\`${name}\``);
});

test('the package carries every example of a proxy, and the guide names each', () => {
  const here = readdirSync(join(packaging, 'proxy')).map((name) => `proxy/${name}`);
  expect([...PROXY_EXAMPLES].sort()).toEqual(here.sort());
  const guide = readFileSync(join(packaging, '..', 'docs', 'guide', 'proxy.md'), 'utf8');
  for (const file of PROXY_EXAMPLES) expect(guide).toContain(`packaging/${file}`);
});
