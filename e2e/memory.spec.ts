import type { Locator, Page } from 'playwright/test';
import { QUIET_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const daemon = daemonOf(() => startGateway({ files: QUIET_FILE }));
const TEXTS = [
  ['The boiler is serviced in March by Weber.', ['household', 'heating']],
  ['Anna does not eat nuts.', ['people']],
  ['The printer in the hall needs cartridge 304.', []],
  ['The heating runs at 20 degrees on weekdays.', ['heating']],
] as const;

const items = (page: Page, list = 'Notes'): Locator =>
  page.getByRole('list', { name: list, exact: true }).getByRole('listitem');

test('an empty list explains notes; the first note is added by keyboard', async ({ page }) => {
  await page.goto(`${daemon().url}/memory`);
  await expect(page.getByText('No notes yet')).toBeVisible();
  await expect(
    page.getByText(/^No key is required on this machine\. Other machines need the admin key/),
  ).toBeVisible();
  await expect(page.getByRole('button', { name: 'Delete all notes…' })).toHaveCount(0);
  await inspect(page, 'memory-empty', TWO_LAYOUTS);
  await page.getByRole('button', { name: 'Add first note' }).focus();
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog', { name: 'Add a note' });
  await expect(form.getByRole('button', { name: 'Save note' })).toBeDisabled();
  await form.getByLabel('Text').focus();
  await page.keyboard.type('The spare key hangs in the shed.');
  await page.keyboard.press('Tab');
  await page.keyboard.type('household, keys');
  await inspect(page, 'memory-add', TWO_LAYOUTS.slice(1));
  await page.keyboard.press('Enter');
  await expect(items(page)).toHaveCount(1);
  await expect(items(page).first()).toContainText('keys');
});

test('notes are found, with the search mode shown, and deleted singly, in groups and all at once', async ({
  page,
}) => {
  for (const [text, tags] of TEXTS) await send(daemon(), 'POST', '/api/memory', { body: { text, tags } });
  await page.goto(`${daemon().url}/memory`);
  await expect(items(page)).toHaveCount(5);
  await inspect(page, 'memory', ALL_LAYOUTS);
  const search = page.getByRole('searchbox', { name: 'Search notes' });
  await search.fill('boiler');
  await page.keyboard.press('Enter');
  await expect(items(page, 'Found notes')).toHaveCount(1);
  await expect(search).toBeFocused();
  await page.goBack();
  await expect(search).toHaveValue('');
  await page.goForward();
  await expect(search).toHaveValue('boiler');
  await page.getByRole('button', { name: /^Keyword only/ }).hover();
  await expect(page.getByText(/^Keyword search only: no embedding model/)).toBeVisible();
  await inspect(page, 'memory-found', TWO_LAYOUTS.slice(1));
  await page.goto(`${daemon().url}/memory?q=submarine`);
  await page.getByRole('button', { name: 'Show all notes' }).click();
  await page.getByRole('button', { name: /^Delete… Anna/ }).focus();
  await page.keyboard.press('Enter');
  const one = page.getByRole('alertdialog', { name: 'Delete this note?' });
  await expect(one).toContainText('Anna does not eat nuts.');
  await one.getByRole('button', { name: 'Delete note' }).focus();
  await page.keyboard.press('Enter');
  await expect(items(page)).toHaveCount(4);
  // The focus moves to the list, because the button was deleted with the note.
  await expect(page.locator(':focus').getByRole('list', { name: 'Notes' })).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search notes' }).fill('heating');
  await page.keyboard.press('Enter');
  await expect(items(page, 'Found notes').first()).toBeVisible();
  await page.goBack();
  await page.getByRole('checkbox', { name: /^Select: The printer/ }).check();
  await page.goForward();
  await expect(items(page, 'Found notes').first()).toBeVisible();
  await expect(page.getByRole('button', { name: /^Delete 1…/ })).toHaveCount(0);
  await page.goBack();
  await expect(items(page)).toHaveCount(4);
  for (const name of [/^Select: The printer/, /^Select: The boiler/])
    await page.getByRole('checkbox', { name }).check();
  await page.getByRole('button', { name: 'Delete 2…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 2 notes' }).click();
  await expect(items(page)).toHaveCount(2);
  await page.getByRole('button', { name: 'Delete all notes…' }).click();
  const all = page.getByRole('alertdialog', { name: 'Delete all notes?' });
  await expect(all.getByRole('button', { name: 'Delete all notes' })).toBeDisabled();
  await all.getByRole('textbox').fill('delete everything');
  await inspect(page, 'memory-delete-all', TWO_LAYOUTS.slice(1));
  await all.getByRole('button', { name: 'Delete all notes' }).click();
  await expect(page.getByText('No notes yet')).toBeVisible();
});
