import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEMO_FILE } from '../daemon/models/demo-model.ts';
import { DEMO_CONTEXT, demoModelBytes } from './demo-model.ts';

test('the file in the repository is what the script makes', () => {
  // `toEqual` would print both files.
  const isSame = readFileSync(DEMO_FILE).equals(demoModelBytes());
  expect(isSame, 'run `node scripts/demo-model.ts` and commit assets/svc-demo.gguf').toBe(true);
});

test('the file is small and its context is at least 32k', () => {
  expect(readFileSync(DEMO_FILE).length).toBeLessThan(2_000_000);
  expect(DEMO_CONTEXT).toBeGreaterThanOrEqual(32_768);
});
