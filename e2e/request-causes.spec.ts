import type { Page } from 'playwright/test';
import { tinyChat } from '../daemon/models/testing/gguf/tiny-chat.ts';
import { ADMIN_KEY } from '../daemon/test/harness/gateway.ts';
import { newHome, putModel } from '../daemon/test/harness/home.ts';
import { send } from '../daemon/test/harness/http.ts';
import { startGuarded } from '../daemon/test/harness/tiny-gateway.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { giveSession } from './harness/login.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'x' }], max_tokens: 4 });
const PAGE = 'http://192.168.7.7:3000';

/** Keys are required; one slot serves a model whose file lacks a tensor. */
const daemon = daemonOf(async () => {
  const home = newHome();
  const { keys, tensors } = tinyChat({ name: 'damaged' });
  putModel(home, 'damaged', { keys, tensors: tensors.slice(0, -1) });
  const gateway = await startGuarded({
    home,
    files: { 'config/slots/broken.toml': 'model = "damaged"\nautoload = false\n' },
  });
  const post = (model: string, headers: Record<string, string>, key?: string) =>
    send(gateway, 'POST', '/v1/chat/completions', { body: chat(model), headers, ...(key && { key }) });
  await post('agent', { 'user-agent': 'OpenAI/Python 2.4.0' }, ADMIN_KEY);
  await post('broken', { 'user-agent': 'claude-cli/2.0.14 (external, cli)' }, ADMIN_KEY);
  await post('agent', { 'user-agent': 'n8n' }, 'not-the-key');
  await post('agent', { 'user-agent': 'Mozilla/5.0 (X11) Chrome/156', origin: PAGE }, ADMIN_KEY);
  return gateway;
});

test.beforeEach(({ page }) => giveSession(page, daemon(), ADMIN_KEY));

const row = (page: Page, text: string) =>
  page.getByRole('table', { name: 'Requests' }).getByRole('row').filter({ hasText: text });
const details = (page: Page) => page.getByRole('dialog', { name: 'Request details' });

test('the list shows who called and what was refused, without access too', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${daemon().url}/requests`);
  await expect(row(page, 'OpenAI SDK (Python)')).toContainText('Done, 200');
  await expect(row(page, 'Claude Code')).toContainText('Failed, 503');
  await expect(row(page, 'n8n')).toContainText('Refused, 401');
  await expect(row(page, 'Web browser')).toContainText('Refused, 403');
  await inspect(page, 'requests-callers', ALL_LAYOUTS);
  await page.getByRole('button', { name: 'Refused', exact: true }).click();
  await expect(page.getByRole('table', { name: 'Requests' }).getByRole('row')).toHaveCount(3);
  await row(page, 'n8n').getByRole('button').click();
  await expect(details(page)).toContainText('This key is not valid here.');
  await expect(details(page)).toContainText('User-Agentn8n');
  await expect(details(page)).toContainText('Fromthis machine');
  await expect(details(page).getByRole('region', { name: 'Routing' })).toHaveCount(0);
  await inspect(page, 'requests-refused', TWO_LAYOUTS);
});

test('a failed request says why, with the reason of the engine and the next step', async ({ page }) => {
  await page.goto(`${daemon().url}/requests?only=failed`);
  await row(page, 'broken').getByRole('button').first().click();
  const fault = details(page)
    .getByText(/tensor|could not be loaded|llama/i)
    .first();
  await expect(fault).toBeVisible();
  await expect(details(page)).not.toContainText('The slot has failed.');
  await inspect(page, 'requests-failed', TWO_LAYOUTS);
  await details(page).getByRole('link', { name: 'Open log of broken' }).click();
  await expect(page).toHaveURL(/\/slots\?slot=broken&show=log$/);
  await page.goBack();
  await details(page).getByRole('link', { name: 'Load broken…' }).click();
  await expect(page.getByRole('alertdialog', { name: /into slot broken\?$/ })).toBeVisible();
});

test('a refused web page is allowed under Security', async ({ page }) => {
  await page.goto(`${daemon().url}/requests`);
  await row(page, 'Web browser').getByRole('button').click();
  await expect(details(page)).toContainText(`The origin ${PAGE} may not call the gateway.`);
  await details(page).getByRole('link', { name: 'Allow this page under Security' }).click();
  const refused = page.getByRole('list', { name: 'Refused web pages' });
  await expect(refused).toContainText(`${PAGE}Refused once`);
  await inspect(page, 'security-refused-page', ALL_LAYOUTS);
  await refused.getByRole('button', { name: `Allow… ${PAGE}` }).click();
  const confirm = page.getByRole('alertdialog', { name: `Allow pages of ${PAGE}?` });
  await confirm.getByRole('button', { name: 'Allow pages' }).click();
  await expect(refused).toHaveCount(0);
  await expect(page.getByText(`Allowed: ${PAGE}.`)).toBeVisible();
  const again = await send(daemon(), 'POST', '/v1/chat/completions', {
    key: ADMIN_KEY,
    headers: { origin: PAGE },
    body: chat('agent'),
  });
  expect([again.status, again.headers['access-control-allow-origin']]).toEqual([200, PAGE]);
});
