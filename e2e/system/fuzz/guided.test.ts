/** Runs every fuzz target on some thousand inputs of Jazzer.js (libFuzzer), and a target with a known fault to find. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seed } from '../../../daemon/test/harness/scale.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';
import { guided } from '../../../scripts/fuzz/guided.ts';
import { TARGETS, type Target } from '../../../scripts/fuzz/targets.ts';

const fuzz = join(import.meta.dirname, '..', '..', '..', 'scripts', 'fuzz');
const jazzer = part('jazzer');
const libc = part('libc');

describe.skipIf(jazzer === null || libc === null)('coverage-guided fuzzing', () => {
  const fuzzer = { jazzer: jazzer as string, libc: libc as string };
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-fuzz-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const planted = {
    name: 'planted',
    target: { what: 'a planted fault', maxBytes: 16 },
    source: join(fuzz, 'fixtures', 'planted.ts'),
    corpora: [],
  };

  test('finds a fault that random inputs would not reach, stores the input and replays it', async () => {
    const result = await guided({
      ...planted,
      fuzzer,
      folder,
      seed: seed('a planted fault'),
      runs: 2_000_000,
    });
    expect(result.output).toContain('the planted fault');
    expect(result.code).not.toBe(0);
    const [found = ''] = readdirSync(join(folder, 'findings')).filter((name) => name.startsWith('planted-'));
    const replay = join(folder, 'findings', found);
    expect(readFileSync(replay, 'latin1').slice(0, 5)).toBe('gate!');
    expect((await guided({ ...planted, fuzzer, folder, seed: 1, runs: 1, replay })).code).not.toBe(0);
  }, 120_000);

  test.each(Object.entries<Target>(TARGETS))(
    'target %s finds nothing in a short run',
    async (name, target) => {
      const result = await guided({
        name,
        target,
        fuzzer,
        folder,
        source: join(fuzz, 'targets', `${name}.ts`),
        corpora: [join(fuzz, 'corpus', name)],
        // The same inputs each time, so that no unrelated change fails. `npm run fuzz` searches for new findings.
        seed: 1,
        // Reading a crafted model file takes long.
        runs: target.seconds === undefined ? 5_000 : 100,
      });
      expect(result.code, result.output.slice(-4_000)).toBe(0);
      expect(result.executed).toBeGreaterThan(50);
      expect(result.coverage).toBeGreaterThan(50);
    },
    120_000,
  );
});
