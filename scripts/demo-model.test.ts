import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEMO_FILE, DEMO_METADATA_FILE } from '../daemon/models/demo-model.ts';
import { DEMO_CONTEXT, demoMetadataText, demoModelBytes } from './demo-model.ts';

test('the file in the repository is what the script makes', () => {
  // `toEqual` would print both files.
  const isSame = readFileSync(DEMO_FILE).equals(demoModelBytes());
  expect(isSame, 'run `node scripts/demo-model.ts` and commit assets/svc-demo.gguf').toBe(true);
});

test('the file is small and its context is at least 32k', () => {
  expect(readFileSync(DEMO_FILE).length).toBeLessThan(2_000_000);
  expect(DEMO_CONTEXT).toBeGreaterThanOrEqual(32_768);
});

test('the metadata in the repository is that of the file', async () => {
  const shipped = readFileSync(DEMO_METADATA_FILE, 'utf8');
  expect(shipped, 'run `node scripts/demo-model.ts` and commit assets/svc-demo.json').toBe(
    await demoMetadataText(),
  );
});
