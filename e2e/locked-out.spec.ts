import type { Page } from 'playwright/test';
import { ADMIN_KEY, KEYS_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { waitForSlotState } from '../daemon/test/harness/slots.ts';
import { inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { enter, keyField, sessionChip } from './harness/login.ts';
import { composer, sendMessage, submitMessage, turns, waitForReply } from './harness/playground.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** Keys are set but not required; the tests change that from outside the page. */
const daemon = daemonOf(async () => {
  const gateway = await startGateway({ files: KEYS_FILE, env: { SVC_LOGIN_RATELIMIT_MAX: '1000' } });
  await waitForSlotState(gateway, 'agent', 'ready');
  return gateway;
});

const PROVOKED = /status of 401|INCOMPLETE_CHUNKED_ENCODING \/api\/events/;
const TYPED = 'half a thought that must not get lost';
const bar = (page: Page) => page.getByRole('main').getByText('Your work is safe');
const staleView = (page: Page) => page.locator('[data-stale]');

async function setEnforcement(on: boolean): Promise<void> {
  const answer = await send(daemon(), 'PUT', '/api/auth/require', {
    key: ADMIN_KEY,
    body: { require_auth: on },
  });
  expect(answer.status).toBe(200);
}

/** Logs in over the view and expects everything to be preserved. */
async function reopenPage(page: Page, action: string): Promise<void> {
  await page.getByRole('button', { name: action }).click();
  await enter(page, ADMIN_KEY);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(bar(page)).toHaveCount(0);
  await expect(staleView(page)).toHaveCount(0);
  await expect(composer(page)).toHaveValue(TYPED);
  await expect(turns(page)).toHaveCount(2);
  await composer(page).press('Enter');
  await expect(turns(page)).toHaveCount(4);
  await waitForReply(page);
}

async function typeOn(page: Page): Promise<void> {
  await waitForReply(page);
  await composer(page).fill(TYPED);
}

test('enforcement that another browser switches on requires the key and preserves the input', async ({
  page,
  watch,
}) => {
  watch.allow(PROVOKED);
  await setEnforcement(false);
  await sendMessage(page, daemon().url, 'Hello');
  await typeOn(page);
  await setEnforcement(true);
  await expect(bar(page)).toContainText('The gateway requires a key now.');
  await expect(staleView(page)).toHaveCount(1);
  await expect(composer(page)).toHaveValue(TYPED);
  await test.step('on a phone the text has the width of the bar', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    expect((await bar(page).boundingBox())?.height, 'three lines of 20 px at most').toBeLessThan(76);
    await inspect(page, 'keys-required', TWO_LAYOUTS.slice(1));
    await page.setViewportSize({ width: 1280, height: 800 });
  });
  await reopenPage(page, 'Log in with the key');
  await expect(sessionChip(page)).toBeVisible();
});

test('a session that ends elsewhere preserves the view and the text, and continues after a login', async ({
  page,
  watch,
}) => {
  watch.allow(PROVOKED);
  await setEnforcement(true);
  await page.goto(`${daemon().url}/login?next=/playground`);
  await enter(page, ADMIN_KEY);
  await submitMessage(page, 'Hello');
  await typeOn(page);
  expect((await send(daemon(), 'POST', '/api/auth/sessions/end', { key: ADMIN_KEY })).status).toBe(200);
  await expect(bar(page)).toContainText('Your session has ended.');
  await expect(page).toHaveURL(/\/playground$/);
  await inspect(page, 'session-ended', TWO_LAYOUTS);
  await test.step('"Not now" keeps the page', async () => {
    await page.getByRole('button', { name: 'Log in again' }).click();
    await expect(keyField(page)).toBeFocused();
    await inspect(page, 'login-dialog', TWO_LAYOUTS);
    await page.getByRole('button', { name: 'Not now' }).click();
    await expect(composer(page)).toHaveValue(TYPED);
  });
  await reopenPage(page, 'Log in again');
});

test('a message sent after the end of the session reports it, and is sent after the login', async ({
  page,
  watch,
}) => {
  watch.allow(PROVOKED);
  await setEnforcement(true);
  await page.goto(`${daemon().url}/login?next=/playground`);
  await enter(page, ADMIN_KEY);
  await composer(page).fill('Hello');
  await send(daemon(), 'POST', '/api/auth/sessions/end', { key: ADMIN_KEY });
  await composer(page).press('Enter');
  const failure = turns(page).last().getByRole('alert');
  await expect(failure).toContainText('A key is required.');
  await failure.getByRole('button', { name: 'Log in' }).click();
  await enter(page, ADMIN_KEY);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(turns(page).last()).toContainText('You are logged in. Nothing was sent again.');
  await turns(page).last().getByRole('button', { name: 'Try again' }).click();
  await waitForReply(page);
  await expect(turns(page)).toHaveCount(2);
});

test('a login returns to the complete URL that was opened', async ({ page, watch }) => {
  watch.allow(PROVOKED);
  await setEnforcement(true);
  await page.goto(`${daemon().url}/requests?q=100%25+a%26b&only=failed`);
  await expect(page).toHaveURL(/\/login\?next=/);
  await enter(page, ADMIN_KEY);
  await expect(page).toHaveURL(`${daemon().url}/requests?q=100%25+a%26b&only=failed`);
});

test('ending all sessions on the page shows the login page, not the bar', async ({ page, watch }) => {
  watch.allow(PROVOKED);
  await setEnforcement(true);
  await page.goto(`${daemon().url}/login?next=/security/sessions`);
  await enter(page, ADMIN_KEY);
  await page.getByRole('button', { name: 'End all sessions…' }).click();
  const confirm = page.getByRole('alertdialog', { name: 'End all sessions?' });
  await expect(confirm).toContainText('including this browser');
  await confirm.getByRole('button', { name: 'End all sessions' }).click();
  await expect(page).toHaveURL(/\/login/);
  await expect(bar(page)).toHaveCount(0);
});
