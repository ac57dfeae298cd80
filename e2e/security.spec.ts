import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import { QUIET_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { enter, keyField, keyIn, sessionChip } from './harness/login.ts';
import { daemonOf, expect, test } from './harness/test.ts';
import { pageContent, recordTraffic, type Traffic } from './harness/traffic.ts';

/** A fresh install: no key, enforcement off. The tests below set it up step by step. */
const daemon = daemonOf(() => startGateway({ files: QUIET_FILE }));
test.describe.configure({ mode: 'serial' });

const fingerprint = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 8);

async function rotate(page: Page, what: 'admin' | 'client', verb: 'Create' | 'Rotate'): Promise<void> {
  await page.getByRole('radio', { name: `${what === 'admin' ? 'Admin' : 'Client'} key` }).click();
  await page.getByRole('button', { name: `${verb} the ${what} key…` }).click();
  const dialog = page.getByRole('alertdialog', { name: `${verb} the ${what} key?` });
  await dialog.getByRole('button', { name: `${verb} the ${what} key` }).click();
  await expect(dialog).toHaveCount(0);
}

async function expectOnlyFacts(page: Page, what: 'admin' | 'client', key: string): Promise<void> {
  await expect(page.getByRole('heading', { name: `New ${what} key` })).toBeVisible();
  const facts = page.locator('dl');
  await expect(facts).toContainText(`Fingerprint${fingerprint(key)}`);
  await expect(facts).toContainText(`Length${key.length} characters`);
  await expect(facts).toContainText(/When(now|just now|\d+ s)/);
  await expect(page.locator('dl time')).toHaveAttribute('datetime', /^\d{4}-\d\d-\d\dT/);
}

/** Asserts that the page received and shows the fingerprint of the key, but not the key. */
async function expectNowhere(page: Page, traffic: Traffic, key: string): Promise<void> {
  const [received, shown] = [await traffic.received(), await pageContent(page)];
  expect(received).toContain(fingerprint(key));
  expect(received).not.toContain(key);
  expect(shown).not.toContain(key);
}

const requireKeys = (page: Page) => page.getByRole('switch', { name: /Require keys/ });

test('without an admin key enforcement cannot be switched on, and the view links to creating one', async ({
  page,
}) => {
  await page.goto(`${daemon().url}/security`);
  await expect(requireKeys(page)).toBeDisabled();
  await page.getByRole('link', { name: 'Create an admin key' }).click();
  await expect(page).toHaveURL(/\/security\/rotate/);
});

test('a new admin key shows its fingerprint, length and time; the key itself is not on the page', async ({
  page,
}) => {
  const traffic = await recordTraffic(page);
  await page.goto(`${daemon().url}/security/rotate`);
  await rotate(page, 'admin', 'Create');
  const key = keyIn(daemon(), 'SVC_ADMIN_KEY');
  await expectOnlyFacts(page, 'admin', key);
  await expect(page.getByRole('button', { name: 'Rotate the admin key…' })).toBeVisible();
  await expect.poll(traffic.received).toContain('event: auth');
  await expectNowhere(page, traffic, key);
});

test('enforcement is switched on after a confirmation, and the page then requires the key', async ({
  page,
  watch,
}) => {
  watch.allow(/status of 401|INCOMPLETE_CHUNKED_ENCODING \/api\/events/);
  await page.goto(`${daemon().url}/security/posture`);
  await requireKeys(page).click();
  const confirm = page.getByRole('alertdialog', { name: 'Require keys?' });
  await expect(confirm).toContainText('Every request will need a key');
  await confirm.getByRole('button', { name: 'Cancel' }).click();
  await expect(requireKeys(page)).not.toBeChecked();
  await requireKeys(page).click();
  await confirm.getByRole('button', { name: 'Require keys' }).click();
  const login = page.getByRole('dialog', { name: 'Log in' });
  await expect(login).toBeVisible();
  expect((await send(daemon(), 'GET', '/api/status')).status).toBe(401);
  await enter(page, keyIn(daemon(), 'SVC_ADMIN_KEY'));
  await expect(login).toHaveCount(0);
  await expect(requireKeys(page)).toBeChecked();
  await expect(page.getByRole('banner').getByText('keys required')).toBeVisible();
});

test('a login opens the requested view and shows the session', async ({ page }) => {
  await page.goto(`${daemon().url}/security/sessions`);
  await expect(page).toHaveURL(/\/login\?next=%2Fsecurity%2Fsessions$/);
  await expect(page.getByRole('navigation')).toHaveCount(0);
  await enter(page, keyIn(daemon(), 'SVC_ADMIN_KEY'));
  await expect(page).toHaveURL(/\/security\/sessions$/);
  await expect(sessionChip(page)).toHaveText(/7 hr 5\d min/);
  const rows = page.getByRole('table', { name: 'Sessions' }).getByRole('row');
  await expect(rows.filter({ hasText: 'This browser' })).toHaveCount(1);
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ name: 'svc_session', httpOnly: true, sameSite: 'Lax' });
});

test('the exposure view finds a route by text and by class', async ({ page }) => {
  await page.goto(`${daemon().url}/login?next=/security/exposure`);
  await enter(page, keyIn(daemon(), 'SVC_ADMIN_KEY'));
  const table = page.getByRole('table', { name: 'API access' });
  const rows = table.locator('tbody tr');
  await expect(rows.filter({ hasText: /\/v1\/chat\/completions(?!\/)/ })).toContainText('Key needed');
  await page.getByRole('searchbox', { name: 'Search routes' }).fill('replace the admin');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('POST/api/auth/rotate');
  await expect(rows.getByRole('cell').nth(2)).toHaveText('admin');
  await page.getByRole('searchbox', { name: 'Search routes' }).fill('');
  const classes = page.getByRole('group', { name: 'Class' });
  await classes.getByRole('button', { name: /^open/ }).click();
  await expect(rows.filter({ hasText: '/api/auth/rotate' })).toHaveCount(0);
  await expect(rows.filter({ hasText: '/api/auth/login' })).toContainText('This machine');
  await page.reload();
  await expect(classes.getByRole('button', { name: /^open/ })).toHaveAttribute('aria-pressed', 'true');
  await classes.getByRole('button', { name: 'All' }).click();
  await page.getByRole('button', { name: 'No key needed' }).click();
  await expect(rows.filter({ hasText: 'Key needed' })).toHaveCount(0);
  await page.getByRole('searchbox', { name: 'Search routes' }).fill('no such route');
  await page.getByRole('button', { name: 'Show all routes' }).click();
  await expect(rows.filter({ hasText: '/api/auth/rotate' })).toHaveCount(1);
});

test('rotating both keys keeps the session; the old key is refused; logging out ends the session', async ({
  page,
  watch,
}) => {
  watch.allow(/status of 401.* \/api\/(auth\/login|events)$|INCOMPLETE_CHUNKED_ENCODING \/api\/events/);
  const old = keyIn(daemon(), 'SVC_ADMIN_KEY');
  const traffic = await recordTraffic(page);
  await page.goto(`${daemon().url}/login?next=/security/rotate`);
  await enter(page, old);
  await rotate(page, 'client', 'Create');
  await expectOnlyFacts(page, 'client', keyIn(daemon(), 'SVC_CLIENT_KEY'));
  await rotate(page, 'admin', 'Rotate');
  const key = keyIn(daemon(), 'SVC_ADMIN_KEY');
  expect(key).not.toBe(old);
  await expectOnlyFacts(page, 'admin', key);
  await expect(page.locator('dl')).toContainText('Sessionsstay logged in');
  for (const made of [key, keyIn(daemon(), 'SVC_CLIENT_KEY')]) await expectNowhere(page, traffic, made);
  expect(await traffic.received()).not.toContain(old);
  expect(await pageContent(page)).not.toContain(old);
  await sessionChip(page).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await expect(page).toHaveURL(/\/login/);
  expect(await page.context().cookies()).toEqual([]);
  await enter(page, old);
  await expect(page.getByRole('alert')).toContainText('The key is not the admin key.');
  await expect(keyField(page)).toHaveValue(old);
  await enter(page, key);
  await expect(sessionChip(page)).toBeVisible();
});

test('an enabled companion is listed separately from the routes, without a link while it does not respond', async ({
  page,
}) => {
  await page.goto(`${daemon().url}/login?next=/security/exposure`);
  await enter(page, keyIn(daemon(), 'SVC_ADMIN_KEY'));
  await expect(page.getByRole('table', { name: 'API access' })).toBeVisible();
  await expect(page.getByText('companion chat UI')).toHaveCount(0);
  writeFileSync(join(daemon().home, 'config', 'companion.env'), 'SVC_OWUI_PORT=1\n', { mode: 0o600 });
  const enabled = async () => (await send(daemon(), 'GET', '/api/config/urls')).json().companion_enabled;
  await expect.poll(enabled).toBe(true);
  await page.reload();
  await expect(page.getByText('is not part of this table')).toContainText('is not responding');
});
