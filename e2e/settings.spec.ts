import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { QUIET_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const daemon = daemonOf(() => startGateway({ files: QUIET_FILE }));

test('settings show value and source; a change is written and effective; the environment has precedence', async ({
  page,
  watch,
}) => {
  watch.allow(/status of 422 .*\/api\/settings$/);
  await page.goto(`${daemon().url}/settings`);
  const line = (key: string) => page.getByRole('listitem').filter({ hasText: key });
  await expect(line('server.port')).toContainText('set by environment variable: SVC_PORT');
  await inspect(page, 'settings', ALL_LAYOUTS);
  await page.getByRole('button', { name: 'How to change server.port' }).click();
  await expect(page.getByRole('dialog')).toContainText('The environment variable overrides config.toml');
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox', { name: 'Search settings' }).fill('queue wait for one slot');
  const edit = page.getByRole('button', { name: /^Edit / });
  await expect(edit).toHaveCount(1);
  await edit.press('Enter');
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('textbox').fill('-3');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await expect(sheet.getByRole('alert')).toContainText(/^slots\.queue_max must be from 1 to 10000\./);
  await inspect(page, 'settings-edit', TWO_LAYOUTS.slice(1));
  await sheet.getByRole('textbox').fill('63');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await expect(sheet).toHaveCount(0);
  await expect(page.getByRole('main').getByRole('listitem').first()).toContainText('63from config.toml');
});

test('a size is typed and shown with a unit; a refusal says what a size looks like', async ({
  page,
  watch,
}) => {
  watch.allow(/status of 422 .*\/api\/settings$/);
  await page.goto(`${daemon().url}/settings?edit=memoryLimit`);
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('textbox').fill('lots');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await expect(sheet.getByRole('alert')).toContainText('slots.memory_limit must be a size such as 4 GB');
  await expect(sheet.getByRole('alert')).not.toContainText('memoryLimit');
  await inspect(page, 'settings-edit-size', TWO_LAYOUTS);
  await sheet.getByRole('textbox').fill('300 MB');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await expect(sheet).toHaveCount(0);
  await expect(page.getByRole('listitem').filter({ hasText: 'slots.memory_limit' })).toContainText('300 MB');
});

test('a setting that was changed elsewhere preserves the input, and can be overwritten', async ({
  page,
  watch,
}) => {
  watch.allow(/status of 412 .*\/api\/settings$/);
  await page.goto(`${daemon().url}/settings?edit=queueMax`);
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('textbox').fill('41');
  await send(daemon(), 'PUT', '/api/settings', { body: { values: { queueMax: 40 } } });
  await sheet.getByRole('button', { name: 'Save' }).click();
  await expect(sheet.getByRole('alert')).toContainText('The file changed on disk');
  await expect(sheet.getByText('40', { exact: true })).toBeVisible();
  await expect(sheet.getByRole('textbox')).toHaveValue('41');
  await inspect(page, 'settings-stale', TWO_LAYOUTS.slice(1));
  await sheet.getByRole('button', { name: 'Overwrite file' }).click();
  await expect(sheet).toHaveCount(0);
  await expect(page.getByRole('listitem').filter({ hasText: 'slots.queue_max' })).toContainText('41');
});

test('an invalid file is reported with its line and the active value', async ({ page }) => {
  const file = join(daemon().home, 'config', 'config.toml');
  writeFileSync(file, '[server]\nport = 8080\nthis is no toml\n');
  await page.goto(`${daemon().url}/settings`);
  const problems = page.getByRole('list', { name: 'Configuration errors' });
  await expect(problems).toContainText(/config\.toml, line 3/);
  await inspect(page, 'settings-broken', TWO_LAYOUTS.slice(1));
  writeFileSync(file, '# fixed\n');
  await expect(problems).toHaveCount(0);
});

test('the log is live, from the level in the URL', async ({ page }) => {
  await page.goto(`${daemon().url}/settings/logs?level=debug`);
  const log = page.getByRole('region', { name: 'Log lines' });
  await expect(log.getByText(/^(INFO|DEBUG)/).first()).toBeVisible();
  await send(daemon(), 'POST', '/v1/chat/completions', {
    body: { model: 'missing-model', messages: [] },
  });
  await page.getByLabel('Level').selectOption('fatal');
  await expect(page).toHaveURL(/level=fatal/);
  await expect(page.getByText('No lines of this level since the start.')).toBeVisible();
  await page.getByLabel('Level').selectOption('trace');
  await expect(log.getByText(/^(INFO|DEBUG)/).first()).toBeVisible();
  await inspect(page, 'settings-log', TWO_LAYOUTS);
});

test('the audit log shows each change', async ({ page }) => {
  await send(daemon(), 'PUT', '/api/settings', { body: { values: { queueMax: 62 } } });
  await page.goto(`${daemon().url}/security/audit`);
  await expect(page.getByRole('row', { name: /settings\.put/ }).first()).toContainText('queueMax');
  await inspect(page, 'audit', TWO_LAYOUTS);
});
