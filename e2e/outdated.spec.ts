import type { Page } from 'playwright/test';
import { ADMIN_KEY, KEYS_FILE, QUIET_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { enter, giveSession } from './harness/login.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const OPEN_TO_ALL = '[security]\nallow_public_without_auth = true\n';

/** Listens on the network without enforcement, with an admin key, which other machines need for admin routes. */
const daemon = daemonOf(() =>
  startGateway({
    files: { ...KEYS_FILE, ...QUIET_FILE, 'config/config.toml': OPEN_TO_ALL },
    env: { SVC_BIND_HOST: '0.0.0.0' },
  }),
);

const FULL = { error: { message: 'The database is out of reach.', code: 'store.unavailable' } };
/** The fallback polls every 15 s. */
const POLLED = { timeout: 25_000 };

const rows = (page: Page) => page.getByRole('table', { name: 'Requests' }).getByRole('row');
const old = (page: Page) => page.locator('[data-stale]');
const oneRequest = () =>
  send(daemon(), 'POST', '/v1/chat/completions', { body: { model: 'missing', messages: [] } });

test('data that cannot be refreshed stays with a notice, and recovers', async ({ page, watch }) => {
  watch.allow(/status of 503 .*\/api\/requests$/);
  await oneRequest();
  await page.goto(`${daemon().url}/requests`);
  await expect(rows(page)).toHaveCount(2);
  await page.route('**/api/requests', (route) => route.fulfill({ status: 503, json: FULL }));
  await oneRequest();
  await expect(old(page)).toContainText(/As of \d\d:\d\d.*could not be refreshed/, POLLED);
  await expect(old(page)).toContainText('The database is out of reach.');
  await expect(rows(page)).toHaveCount(2);
  await inspect(page, 'requests-outdated', TWO_LAYOUTS);
  await page.unroute('**/api/requests');
  await old(page).getByRole('button', { name: 'Try again' }).click();
  await expect(old(page)).toHaveCount(0);
  await expect(rows(page)).toHaveCount(3);
});

test('without enforcement, a browser that needs a key is informed about its ended session', async ({
  page,
  watch,
}) => {
  watch.allow(/status of 401|INCOMPLETE_CHUNKED_ENCODING \/api\/events/);
  await page.setExtraHTTPHeaders({ 'x-forwarded-for': '192.168.1.7' });
  await giveSession(page, daemon(), ADMIN_KEY);
  await page.goto(`${daemon().url}/requests`);
  await expect(rows(page).nth(1)).toBeVisible();
  expect((await send(daemon(), 'POST', '/api/auth/sessions/end', { key: ADMIN_KEY })).status).toBe(200);
  const notice = page.getByRole('main').getByText('Your session has ended.');
  await expect(notice).toBeVisible(POLLED);
  await expect(old(page)).toContainText('could not be refreshed');
  await expect(rows(page).nth(1)).toBeVisible();
  await page.getByRole('button', { name: 'Log in again' }).click();
  await enter(page, ADMIN_KEY);
  await expect(notice).toHaveCount(0);
  await expect(old(page)).toHaveCount(0);
});
