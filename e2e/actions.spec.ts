import type { Page } from 'playwright/test';
import { send } from '../daemon/test/harness/http.ts';
import { composer } from './harness/playground.ts';
import { startStudio } from './harness/playground-gateway.ts';
import { daemonOf, expect, test } from './harness/test.ts';

test.use({ contextOptions: { reducedMotion: 'no-preference' } });

const daemon = daemonOf(() => startStudio({ 'config/slots/utility.toml': 'model = "no-such-model"\n' }));

/** Clicks twice before the next render. */
const twice = (page: Page, name: string): Promise<void> =>
  page
    .getByRole('alertdialog')
    .getByRole('button', { name, exact: true })
    .evaluate((element) => {
      const button = element as unknown as { click(): void };
      button.click();
      button.click();
    });

test('a double click creates one key, not two', async ({ page }) => {
  let rotations = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/api/auth/rotate')) rotations += 1;
  });
  await page.goto(`${daemon().url}/security/rotate?tier=client`);
  await page.getByRole('button', { name: 'Create the client key…' }).click();
  await twice(page, 'Create the client key');
  await expect(page.getByRole('heading', { name: 'New client key' })).toBeVisible();
  expect(rotations).toBe(1);
});

test('a late response does not close a dialog that was opened since', async ({ page }) => {
  let answer = (): void => {};
  await page.route('**/api/memory', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await new Promise<void>((go) => {
      answer = go;
    });
    await route.continue();
  });
  await page.goto(`${daemon().url}/memory`);
  await page.getByRole('button', { name: 'Add note…' }).click();
  const form = page.getByRole('dialog', { name: 'Add a note' });
  await form.getByLabel('Text').fill('First.');
  await form.getByRole('button', { name: 'Save note' }).click();
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Add note…' }).click();
  await form.getByLabel('Text').fill('Second, still being written.');
  answer();
  await expect(page.getByText('First.', { exact: true }).first()).toBeVisible();
  await expect(form.getByLabel('Text')).toHaveValue('Second, still being written.');
});

test('a missing model stays selected, and no other one replaces it', async ({ page }) => {
  await page.addInitScript(() => {
    sessionStorage.setItem('svc.playground', JSON.stringify({ turns: [], draft: 'Hello', model: 'left' }));
    sessionStorage.setItem('svc.playground.speech', JSON.stringify({ model: 'left' }));
  });
  await page.goto(`${daemon().url}/playground`);
  const picker = page.getByRole('combobox', { name: 'Model' });
  await expect(picker).toHaveText('left · not available');
  await expect(composer(page)).toHaveValue('Hello');
  await expect(page.getByRole('button', { name: 'Send' })).toBeDisabled();
  await expect(page.getByText('left is not available. Choose another model.')).toBeVisible();
  await picker.click();
  await page
    .getByRole('option', { name: /^agent/ })
    .first()
    .click();
  await expect(page.getByRole('button', { name: 'Send' })).toBeEnabled();
  await page.goto(`${daemon().url}/playground/speech`);
  await expect(picker).toHaveText('left · not available');
  await expect(page.getByRole('button', { name: 'Generate speech' })).toBeDisabled();
});

test('a retry delay counts down once across inputs and views', async ({ page, watch }) => {
  watch.allow(/status of 503 .*\/v1\/audio\/speech$/);
  const error = { code: 'slot.queue_full', message: 'The queue is full.' };
  await page.route('**/v1/audio/speech', (route) =>
    route.fulfill({ status: 503, headers: { 'retry-after': '60' }, json: { error } }),
  );
  await page.goto(`${daemon().url}/playground/speech`);
  await page.getByRole('button', { name: 'Generate speech' }).click();
  await expect(page.getByText(/Try again in (60|59) s/)).toBeVisible();
  await expect(page.getByText(/Try again in 57 s/)).toBeVisible();
  await page.getByLabel('Text', { exact: true }).press('x');
  await expect(page.getByText(/Try again in 5[0-7] s/)).toBeVisible();
  await page.getByRole('link', { name: 'Rerank' }).click();
  await page.getByRole('link', { name: 'Speech' }).click();
  await expect(page.getByText(/Try again in 5[0-7] s/)).toBeVisible();
});

test('audio plays automatically only once, not each time the view reopens', async ({ page }) => {
  await page.goto(`${daemon().url}/playground/speech`);
  await page.getByLabel('Format').selectOption('wav');
  await page.getByRole('button', { name: 'Generate speech' }).click();
  const sound = page.locator('audio');
  await expect
    .poll(() => sound.evaluate((each) => (each as unknown as { played: { length: number } }).played.length))
    .toBeGreaterThan(0);
  await page.getByRole('link', { name: 'Rerank' }).click();
  await page.getByRole('link', { name: 'Speech' }).click();
  await expect(sound).toBeVisible();
  expect(await sound.evaluate((each) => (each as unknown as { autoplay: boolean }).autoplay)).toBe(false);
});

test('a slot with an unknown model is reported with a link to it', async ({ page }) => {
  await page.goto(`${daemon().url}/overview`);
  const concern = page
    .getByRole('list', { name: 'Issues' })
    .getByRole('listitem')
    .filter({ hasText: 'Slot utility: the configured model no-such-model is not installed' });
  await expect(concern).toHaveCount(1);
  await concern.getByRole('link').click();
  const card = page.getByRole('article', { name: 'utility' });
  await expect(card).toContainText('no-such-model (not found)');
  await expect(card).toContainText('Model not found');
});

test('a choice keeps the focus while it is being saved', async ({ page }) => {
  await page.route('**/api/models/*', async (route) => {
    await new Promise((later) => setTimeout(later, 500));
    await route.continue();
  });
  await page.goto(`${daemon().url}/models?show=details&of=talker`);
  const choice = page.getByLabel('Default when not specified');
  await choice.focus();
  await choice.selectOption('off');
  await expect(choice).toHaveAttribute('aria-busy', 'true');
  await expect(choice).toBeFocused();
  await expect(choice).toHaveAttribute('aria-busy', 'false');
  await expect(choice).toHaveValue('off');
  await expect(choice).toBeFocused();
});

test('the login page focuses its only field', async ({ page }) => {
  await send(daemon(), 'POST', '/api/auth/rotate', { body: { tier: 'admin' } });
  await page.goto(`${daemon().url}/login`);
  await expect(page.getByLabel('Admin key')).toBeFocused();
});
