import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright/test';
import { tinyChat } from '../daemon/models/testing/gguf/tiny-chat.ts';
import { putModel } from '../daemon/test/harness/home.ts';
import { send } from '../daemon/test/harness/http.ts';
import { waitForSlotState } from '../daemon/test/harness/slots.ts';
import { startThree } from '../daemon/test/harness/three-models.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** Three real models with memory for one of them at a time, and one whose file lacks a tensor. */
const daemon = daemonOf(async () => {
  const first = await startThree();
  await first.stop();
  const { keys, tensors } = tinyChat({ name: 'damaged' });
  putModel(first.home, 'damaged', { keys, tensors: tensors.slice(0, -1) });
  writeFileSync(join(first.home, 'config', 'slots', 'broken.toml'), 'model = "damaged"\n');
  const gateway = await startThree(first.home);
  await send(gateway, 'POST', '/api/slots/broken/load');
  await waitForSlotState(gateway, 'broken', 'error');
  await send(gateway, 'POST', '/api/slots/red/load');
  await waitForSlotState(gateway, 'red', 'ready');
  return gateway;
});

const card = (page: Page, name: string): Locator => page.getByRole('article', { name, exact: true });
const act = (page: Page, name: string, word: string): Locator =>
  card(page, name).getByRole('button', { name: `${word} of slot ${name}` });
const sheet = (page: Page, name: string | RegExp): Locator => page.getByRole('dialog', { name });

async function more(page: Page, name: string, word: string): Promise<void> {
  await card(page, name)
    .getByRole('button', { name: `More actions for slot ${name}` })
    .click();
  await page.getByRole('menuitem', { name: word }).click();
}

test('cards show state, model and errors; a load shows which slots it evicts before the click', async ({
  page,
}) => {
  await page.goto(`${daemon().url}/slots`);
  await expect(card(page, 'red')).toContainText('Ready');
  await expect(
    card(page, 'broken')
      .getByText(/damaged|tensor|model/i)
      .first(),
  ).toBeVisible();
  await inspect(page, 'slots', ALL_LAYOUTS);
  await act(page, 'green', 'Load…').click();
  const dialog = page.getByRole('alertdialog', { name: 'Load green-model into slot green?' });
  await expect(dialog.getByText('Available for this load')).toBeVisible();
  await expect(dialog).toContainText(/red \(idle\) will be unloaded|Waits for red/);
  await inspect(page, 'slots-load', TWO_LAYOUTS);
  await dialog.getByRole('button', { name: 'Load model', exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(card(page, 'green')).toContainText('Ready');
  await expect(card(page, 'red')).toContainText('Unloaded');
});

test('plan, log and swap have their own URLs, and Back closes them', async ({ page }) => {
  await page.goto(`${daemon().url}/slots`);
  await more(page, 'green', 'Plan');
  await expect(page).toHaveURL(/slot=green&show=plan/);
  await expect(
    sheet(page, /Launch plan for slot green/)
      .getByText('slot file', { exact: true })
      .first(),
  ).toBeVisible();
  await inspect(page, 'slots-plan', TWO_LAYOUTS);
  await page.goBack();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.goto(`${daemon().url}/slots?slot=red&show=log`);
  await expect(
    sheet(page, 'Log of slot red')
      .getByText(/gateway: started red-model/)
      .first(),
  ).toBeVisible();
  await expect(page.getByText('Live')).toBeVisible();
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByText('Paused')).toBeVisible();
  await inspect(page, 'slots-log', TWO_LAYOUTS.slice(1));
  await page.keyboard.press('Escape');
  await act(page, 'green', 'Swap…').click();
  const swap = sheet(page, 'Swap model of slot green');
  await swap.getByLabel('Model').selectOption('blue-model');
  await expect(swap.getByText('Available for this load')).toBeVisible();
  await inspect(page, 'slots-swap', TWO_LAYOUTS.slice(1));
  await swap.getByRole('button', { name: 'Swap model' }).click();
  await expect(card(page, 'green')).toContainText('blue-model');
  await expect(card(page, 'green')).toContainText('Ready');
});

test('a slot is added, changed and removed; errors are shown at their field', async ({ page, watch }) => {
  watch.allow(/status of 422 .*\/api\/slots$/);
  watch.allow(/status of 412 .*\/api\/slots\/writer$/);
  await page.goto(`${daemon().url}/slots`);
  await page.getByRole('button', { name: 'Add slot…' }).click();
  const form = sheet(page, 'New slot');
  await form.getByRole('button', { name: 'Add slot' }).click();
  await expect(form.getByText('Enter a name.')).toBeVisible();
  await expect(form).not.toContainText('Invalid input');
  await form.getByLabel('Name', { exact: true }).fill('Writer');
  await form.getByLabel('Context').fill('many');
  await form.getByRole('button', { name: 'Add slot' }).click();
  await expect(form.getByText('Context must be a number.')).toBeVisible();
  await inspect(page, 'slots-new', TWO_LAYOUTS);
  await form.getByLabel('Name', { exact: true }).fill('writer');
  await form.getByLabel('Model').fill('red-model');
  await form.getByLabel('Context').fill('1');
  await form.getByRole('button', { name: 'Add slot' }).click();
  await expect(form.getByRole('alert')).toContainText(/^Context must be 128 or more\./);
  await form.getByLabel('Context').fill('2048');
  await form.getByRole('button', { name: 'Add slot' }).click();
  await expect(card(page, 'writer')).toContainText('red-model');
  await more(page, 'writer', 'Edit…');
  const edit = sheet(page, 'Settings of slot writer');
  await expect(edit.getByLabel('Context')).toHaveValue('2048');
  await expect(edit.getByLabel('Parallel requests')).toHaveValue('2');
  await expect(edit.getByText('Maximum number of requests served in parallel · default')).toBeVisible();
  await edit.getByText('More settings').click();
  await expect(edit.getByLabel('Unload when idle')).toHaveValue('15 min');
  await edit.getByLabel('Pinned').selectOption('yes');
  await send(daemon(), 'PUT', '/api/slots/writer', { body: { parallel: 3 } });
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(edit.getByRole('alert')).toContainText('The file changed on disk');
  await expect(edit.getByLabel('Parallel requests')).toHaveValue('3');
  await edit.getByRole('button', { name: 'Overwrite file' }).click();
  await expect(card(page, 'writer')).toContainText('pinned');
  await more(page, 'writer', 'Remove…');
  const remove = page.getByRole('alertdialog', { name: 'Remove slot writer?' });
  await expect(remove.getByRole('button', { name: 'Remove slot' })).toBeDisabled();
  await remove.getByRole('textbox').fill('writer');
  await inspect(page, 'slots-remove', TWO_LAYOUTS.slice(1));
  await remove.getByRole('button', { name: 'Remove slot' }).click();
  await expect(card(page, 'writer')).toHaveCount(0);
});

test('a slot is unloaded by keyboard, and without slots the next step is offered', async ({ page }) => {
  await send(daemon(), 'POST', '/api/slots/green/load');
  await page.goto(`${daemon().url}/slots`);
  await act(page, 'green', 'Unload…').focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('alertdialog', { name: 'Unload slot green?' });
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(card(page, 'green')).toContainText('Unloaded');
  await page.route('**/api/slots', (route) => route.fulfill({ json: { slots: [] } }));
  // The gateway still has slots and emits an event for each change, because the failed one is retried.
  await page.route('**/api/events*', () => {});
  await page.reload();
  await expect(page.getByText('No slots yet')).toBeVisible();
  await inspect(page, 'slots-empty', TWO_LAYOUTS.slice(1));
});

test('a loaded slot shows which changes of its file wait for a restart', async ({ page }) => {
  await send(daemon(), 'POST', '/api/slots/red/load', { idleTimeoutMs: 60_000 });
  await waitForSlotState(daemon(), 'red', 'ready');
  await page.goto(`${daemon().url}/slots`);
  const waiting = card(page, 'red').getByText(/^Changed in the slot file: .*Restart the slot to apply it\.$/);
  await expect(card(page, 'red')).toContainText('Ready');
  await expect(waiting).toHaveCount(0);
  await more(page, 'red', 'Edit…');
  const edit = sheet(page, 'Settings of slot red');
  await edit.getByLabel('Parallel requests').fill('1');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(waiting).toHaveText('Changed in the slot file: parallel. Restart the slot to apply it.');
  await inspect(page, 'slots-pending', TWO_LAYOUTS);
  await more(page, 'red', 'Restart…');
  const restart = page.getByRole('alertdialog', { name: 'Restart slot red?' });
  await restart.getByRole('button', { name: 'Restart slot' }).click();
  await expect(waiting).toHaveCount(0);
  await expect(card(page, 'red')).toContainText('Ready');
});

test('slots and upstreams are explained at their first use', async ({ page }) => {
  await page.goto(`${daemon().url}/slots`);
  await expect(page.getByText('A slot runs one model under a fixed name.', { exact: true })).toBeVisible();
  const mark = page.getByRole('button', { name: 'What is a slot?' });
  await mark.focus();
  await page.keyboard.press('Enter');
  const help = page.getByRole('dialog', { name: 'What is a slot?' });
  await expect(help).toContainText('so you can swap the model without changing them');
  await inspect(page, 'slots-help', TWO_LAYOUTS);
  await page.keyboard.press('Escape');
  await expect(help).toHaveCount(0);
  await expect(mark).toBeFocused();
  await page.getByRole('link', { name: 'Upstreams' }).click();
  await page.getByRole('button', { name: 'What is an upstream?' }).click();
  await expect(page.getByRole('dialog', { name: 'What is an upstream?' })).toContainText('external provider');
});

test('saved conversations are shown with their size, and deleted after a confirmation', async ({ page }) => {
  let states = 3;
  await page.route('**/api/kv-cache', async (route) => {
    if (route.request().method() === 'DELETE') {
      states = 0;
      return route.fulfill({ json: { deleted: 3, bytes: 138e6 } });
    }
    const counts = { hits: 4, restored_tokens: 21_500, models: [] };
    const sizes = { states, bytes: states * 46e6, max_bytes: 2.4e9 };
    return route.fulfill({ json: { persist: 'memory', problem: null, ...sizes, ...counts } });
  });
  await page.goto(`${daemon().url}/slots`);
  const section = page.getByRole('region', { name: 'Saved conversations' });
  await expect(section).toContainText('3 conversations');
  await expect(section).toContainText('Used by 4 requests');
  await inspect(page, 'saved-conversations', TWO_LAYOUTS);
  await section.getByRole('button', { name: 'Delete saved conversations' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete saved conversations' }).click();
  await expect(section).toBeHidden();
});
