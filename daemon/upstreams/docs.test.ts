import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { UPSTREAM_FIELDS } from '../contract/upstreams.ts';
import { MAX_DETECTION_MS } from './hang-monitor.ts';
import { readUpstreamFile } from './upstream-file.ts';

const page = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guide', `${name}.md`), 'utf8');
const CONFIG = '# config.toml\n';
const blocks = (text: string) =>
  [...text.matchAll(/```toml\n([\s\S]*?)```/g)]
    .map((match) => match[1] as string)
    .filter((block) => !block.startsWith(CONFIG));

it.each(['two-machines', 'cluster'])('every upstream file in %s is valid when copied unchanged', (name) => {
  const files = blocks(page(name));
  expect(files.length).toBeGreaterThan(1);
  for (const text of files)
    expect(readUpstreamFile('copied.toml', text)).toMatchObject({ problems: [], config: {} });
});

it('the guide for clusters has the longest wait at a suspended upstream', () => {
  expect(page('cluster')).toContain(`after at most ${MAX_DETECTION_MS / 1000} s`);
});

it('the page lists every key of the file', () => {
  const text = page('two-machines');
  const table = text.slice(text.indexOf('| key | default'));
  for (const field of Object.keys(UPSTREAM_FIELDS)) expect(table).toContain(`\`${field}\``);
});
