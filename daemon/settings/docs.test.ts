import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { evaluateConfig } from './config-layer.ts';

const GUIDES = join(import.meta.dirname, '..', '..', 'docs', 'guide');
const BLOCK = /```toml\n(# config\.toml\n[\s\S]*?)```/g;

const examples = globSync('*.md', { cwd: GUIDES }).flatMap((page) =>
  [...readFileSync(join(GUIDES, page), 'utf8').matchAll(BLOCK)].map(([, text = '']) => ({ page, text })),
);

test('the guides have examples of config.toml', () => {
  expect(examples.length).toBeGreaterThan(0);
});

test.each(examples)('$page: an example of config.toml is valid when copied unchanged', ({ text }) => {
  const read = { kind: 'bytes', bytes: Buffer.from(text), mode: 0o600, uid: 0 } as const;
  const { state, problems } = evaluateConfig(read, { lastGood: null, enforced: false });
  expect({ state, problems }).toEqual({ state: 'good', problems: [] });
});
