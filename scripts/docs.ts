// Writes the pages of docs/ that are generated from tables: npm run docs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adrIndex } from './docs/adr-index.ts';
import { commandsPage } from './docs/commands-page.ts';
import { errorsPage } from './docs/errors-page.ts';
import { headersPage } from './docs/headers-page.ts';
import { metricsPage } from './docs/metrics-page.ts';
import { routesPage } from './docs/routes-page.ts';
import { settingsPage } from './docs/settings-page.ts';
import { slotFilesPage } from './docs/slot-files-page.ts';

/** Each generated page with its text. A test compares them. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/adr/README.md': adrIndex,
  'docs/reference/errors.md': errorsPage,
  'docs/reference/headers.md': headersPage,
  'docs/reference/metrics.md': metricsPage,
  'docs/reference/settings.md': settingsPage,
  'docs/reference/slot-files.md': slotFilesPage,
  'docs/reference/svcctl.md': commandsPage,
  'docs/reference/routes.md': routesPage,
};

if (import.meta.main) {
  for (const [path, text] of Object.entries(PAGES)) {
    writeFileSync(join(import.meta.dirname, '..', path), text());
    console.log(`written: ${path}`);
  }
}
