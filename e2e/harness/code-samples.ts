import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright/test';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** The request in one language, as shown on the page. */
export const code = (page: Page, language = 'curl'): Locator =>
  page.getByRole('region', { name: `the request in ${language}` });

/** Runs the shown request: shell with sh, JavaScript with the packages of this checkout. Returns its output. */
export async function ran(page: Page, language: 'curl' | 'JavaScript'): Promise<string> {
  await page.getByRole('tab', { name: language }).click();
  const text = (await code(page, language).textContent()) ?? '';
  const [program, args] =
    language === 'curl'
      ? (['sh', ['-c', text]] as const)
      : ([process.execPath, ['--input-type=module', '-e', text]] as const);
  const env = { ...process.env, FORCE_COLOR: '0' };
  return (await run(program, args, { cwd: root, env, timeout: 20_000 })).stdout;
}
