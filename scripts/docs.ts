// Writes the pages of docs/ that are made from tables: npm run docs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adrIndex } from './docs/adr-index.ts';
import { commandsPage } from './docs/commands-page.ts';
import { routesPage } from './docs/routes-page.ts';

/** Each page with the text that it must have; a test compares. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/adr/README.md': adrIndex,
  'docs/svcctl.md': commandsPage,
  'docs/routes.md': routesPage,
};

if (import.meta.main) {
  for (const [path, text] of Object.entries(PAGES)) {
    writeFileSync(join(import.meta.dirname, '..', path), text());
    console.log(`written: ${path}`);
  }
}
