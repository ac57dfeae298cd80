import { join } from 'node:path';
import { defineConfig } from 'playwright/test';
import { artifacts } from './harness/paths.ts';

/** Resolves names of the test domain to this machine and no other name, so that the browser cannot use the network. */
const NAMES = 'MAP *.test 127.0.0.1, MAP *.rebound.io 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';

const QUIET = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
  `--host-resolver-rules=${NAMES}`,
];

/** The file for the counts: from the environment, else next to the other artifacts. */
const COUNTS = process.env.PLAYWRIGHT_JSON_OUTPUT_NAME ? {} : { outputFile: join(artifacts, 'e2e.json') };

/** The dashboard in the Chromium of the distribution, against real daemons with real engines. */
export default defineConfig({
  testDir: '.',
  // Suites of vitest.
  testIgnore: '**/e2e/system/**',
  outputDir: join(artifacts, 'e2e'),
  // These tests mostly wait for pages: two workers leave a third of two cores idle.
  workers: 3,
  forbidOnly: Boolean(process.env.CI),
  // On a busy machine a page takes ten seconds to load.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [['list'], ['json', COUNTS]],
  use: {
    browserName: 'chromium',
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: QUIET },
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    screenshot: 'only-on-failure',
    // Animations are a sixth of the CPU. The specs `actions` and `keyboard` have them.
    contextOptions: { reducedMotion: 'reduce' },
    // A worker resets one context and page between tests: the browser does not compile the dashboard again for each.
    reuseContext: true,
  },
  projects: [
    { name: 'built', testMatch: 'assets.setup.ts' },
    { name: 'walks', testMatch: '*.spec.ts', dependencies: ['built'] },
  ],
});
