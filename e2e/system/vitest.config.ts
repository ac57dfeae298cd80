import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { startBuiltPrograms } from '../../scripts/build/start-built-programs.ts';
import { reporters } from '../../scripts/testing/reporters.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * One project for each folder, so that each has its line in the report. `harness`: helpers of the others. `install`:
 * packages, systemd, proxies, the companion. `engines`: real engines, containers and weights. `clusters`: upstreams of many
 * replicas. `faults`: failing system calls, kills and long repeats. `fuzz`: guided fuzzing. `clients`: released agents
 * and SDKs, and the OpenAPI document. `clients-on-demand`: more of them, with `--with clients` only. `torch`: programs that need
 * torch, with `--with torch` only. `builds`: programs that are built from source, with `--with builds` only.
 */
const FOLDERS = [
  'harness',
  'install',
  'engines',
  'clusters',
  'faults',
  'fuzz',
  'clients',
  'clients-on-demand',
  'torch',
  'builds',
];
/** Folders that need an argument of `npm run test:system`, `--with GROUP`. */
const GROUP_OF: Readonly<Record<string, string>> = {
  'clients-on-demand': 'clients',
  torch: 'torch',
  builds: 'builds',
};
/** Folders whose files run one after the other: containers of systemd share one control group. */
const ONE_BY_ONE = new Set(['install']);
const wanted = new Set((process.env.SVC_TEST_WITH ?? '').split(','));

export default defineConfig({
  root,
  test: {
    reporters: reporters(),
    projects: FOLDERS.filter((name) => GROUP_OF[name] === undefined || wanted.has(GROUP_OF[name])).map(
      (name) => ({
        root,
        plugins: [startBuiltPrograms(root, join(root, 'dist', 'daemon'))],
        test: {
          name,
          include: [`e2e/system/${name}/**/*.test.ts`],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 20_000 } },
          isolate: false,
          // Vitest wants projects with another number of workers in a separate group.
          ...(ONE_BY_ONE.has(name) ? { maxWorkers: 1, sequence: { groupOrder: 1 } } : { maxWorkers: 2 }),
        },
      }),
    ),
  },
});
