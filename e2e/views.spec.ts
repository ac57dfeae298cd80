import type { Route } from 'playwright/test';
import { ADMIN_KEY, KEYS_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { waitForSlotState } from '../daemon/test/harness/slots.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { enter, giveSession } from './harness/login.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** Read-only tests in a long file: several workers share it, each with its own daemon. */
test.describe.configure({ mode: 'parallel' });

/** Keys are set and required, so that the views are tested with a login. */
const daemon = daemonOf(async () => {
  const gateway = await startGateway({
    files: KEYS_FILE,
    env: { SVC_REQUIRE_AUTH: 'on', SVC_LOGIN_RATELIMIT_MAX: '1000' },
  });
  await waitForSlotState(gateway, 'agent', 'ready', ADMIN_KEY);
  return gateway;
});

/** Each view with its URL and a text that is shown once everything is loaded. */
const VIEWS = [
  { name: 'overview', path: '/overview', text: 'Ready' },
  { name: 'playground', path: '/playground', text: 'Ask something' },
  { name: 'posture', path: '/security/posture', text: 'Set by the environment' },
  { name: 'rotate', path: '/security/rotate', text: 'Rotate the admin key…' },
  { name: 'exposure', path: '/security/exposure', text: '/v1/chat/completions' },
  { name: 'sessions', path: '/security/sessions', text: 'This browser' },
  { name: 'not-found', path: '/security/nowhere', text: 'Page not found' },
] as const;

/** Views with screenshots in other specs; here only their loading and error states. */
const OTHERS = [
  { name: 'slots', path: '/slots' },
  { name: 'models', path: '/models' },
  { name: 'memory', path: '/memory' },
  { name: 'upstreams', path: '/slots/upstreams' },
  { name: 'requests', path: '/requests' },
  { name: 'usage', path: '/requests/usage' },
  { name: 'hardware', path: '/hardware' },
  { name: 'audit', path: '/security/audit' },
  { name: 'settings', path: '/settings' },
] as const;

/** The response of the gateway while its database is unavailable. */
const UNAVAILABLE = {
  status: 503,
  headers: { 'x-request-id': '0b7d3b0e-6c1f-4a53-9a39-3f6a0d8d1c55' },
  json: { error: { code: 'store.unavailable', message: 'The database is busy or damaged.', details: {} } },
};
const READS = /\/(api\/(?!auth\/status|auth\/login)|v1\/models)/;

for (const { name, path, text } of VIEWS) {
  test(`${name}: no faults in light and dark, at desktop and phone width`, async ({ page }) => {
    await giveSession(page, daemon(), ADMIN_KEY);
    await page.goto(daemon().url + path);
    await expect(page.getByRole('main').getByText(text).first()).toBeVisible();
    await inspect(page, name, ALL_LAYOUTS);
  });
}

const WAITING = [...VIEWS.filter((view) => view.name !== 'not-found' && view.name !== 'rotate'), ...OTHERS];

for (const { name, path } of WAITING) {
  test(`${name}: shows a skeleton while loading, and reports failures`, async ({ page, watch }) => {
    watch.allow(/status of 503/);
    await giveSession(page, daemon(), ADMIN_KEY);
    const waitingReads: Route[] = [];
    let fails = false;
    await page.route(READS, async (route) => {
      if (fails) await route.fulfill(UNAVAILABLE);
      else waitingReads.push(route);
    });
    await page.goto(daemon().url + path);
    const waiting = page.getByRole('main').getByText(/^Loading /);
    await expect(waiting.first()).toBeVisible();
    await inspect(page, `${name}-loading`, TWO_LAYOUTS.slice(0, 1));
    fails = true;
    await Promise.all(waitingReads.map((route) => route.fulfill(UNAVAILABLE)));
    const failure = page.getByRole('main').getByRole('alert').first();
    await expect(failure).toContainText('The database is busy or damaged.');
    await expect(failure).toContainText('Try again. If it persists, see the health checks.');
    await inspect(page, `${name}-failed`, TWO_LAYOUTS.slice(1));
    await page.unroute(READS);
    await failure.getByRole('button', { name: 'Try again' }).click();
    await expect(failure).toHaveCount(0);
  });
}

test('login', async ({ page, watch }) => {
  watch.allow(/status of 401/);
  await page.goto(`${daemon().url}/login`);
  await page.getByText('Where is the admin key?').click();
  await inspect(page, 'login', ALL_LAYOUTS);
  await enter(page, 'not the key');
  await expect(page.getByRole('alert')).toBeVisible();
  await inspect(page, 'login-refused', TWO_LAYOUTS);
});

test('on a phone the bottom bar names the most used views, and the others are under More', async ({
  page,
}) => {
  await giveSession(page, daemon(), ADMIN_KEY);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${daemon().url}/overview`);
  const bar = page.getByRole('navigation', { name: 'Views' });
  for (const word of ['Overview', 'Slots', 'Playground', 'Requests', 'More'])
    await expect(bar.getByText(word, { exact: true })).toBeInViewport({ ratio: 1 });
  await bar.getByRole('button', { name: 'More views' }).click();
  await inspect(page, 'phone-more', TWO_LAYOUTS.slice(1));
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('menuitem', { name: 'Security' }).click();
  await expect(page).toHaveURL(/\/security$/);
  await expect(bar.getByRole('button', { name: 'More views, Security is open' })).toContainText('Security');
});

test('the files of the page are compressed for clients that accept it', async ({ request }) => {
  const page = await request.get(`${daemon().url}/login`);
  const asset = /assets\/index-[^"]+\.js/.exec(await page.text())?.[0];
  const sizeOf = async (encoding: string) => {
    const answer = await request.get(`${daemon().url}/${asset}`, {
      headers: { 'accept-encoding': encoding },
    });
    return [
      answer.headers()['content-encoding'],
      answer.headers().vary,
      Number(answer.headers()['content-length']),
    ] as const;
  };
  const [gzip, plain] = [await sizeOf('gzip, deflate'), await sizeOf('identity')];
  expect([gzip[0], gzip[1], plain[0], plain[1]]).toEqual([
    'gzip',
    'Accept-Encoding',
    undefined,
    'Accept-Encoding',
  ]);
  expect(gzip[2]).toBeLessThan(plain[2] / 2.5);
});

test('on a phone the tabs of a view stay in one line, with the current one in view', async ({ page }) => {
  await giveSession(page, daemon(), ADMIN_KEY);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${daemon().url}/security/audit`);
  const tabs = page.getByRole('navigation', { name: 'Security' });
  await expect(tabs.getByRole('link', { name: 'Audit' })).toBeInViewport({ ratio: 1 });
  const tops = await tabs
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(1);
});
