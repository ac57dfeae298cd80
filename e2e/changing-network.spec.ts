import type { Page, Route } from 'playwright/test';
import { startTiny } from '../daemon/test/harness/tiny-gateway.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { composer, sendMessage, turns, waitForReply } from './harness/playground.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const daemon = daemonOf(() => startTiny());

/** Messages of the browser and the page when a request is aborted. */
const PROVOKED = /Failed to load resource|could not be loaded|dynamically imported|preload CSS/;

/** Aborts the first `times` requests of these URLs, as a browser does when its network changes. */
async function endRequests(page: Page, address: RegExp, times: number): Promise<() => number> {
  let requestCount = 0;
  await page.route(address, (route: Route) => {
    requestCount += 1;
    return requestCount <= times ? route.abort('failed') : route.continue();
  });
  return () => requestCount;
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 });
const alert = (page: Page) => page.getByRole('main').getByRole('alert');
/** Whether the page has its styles: only then is the menu next to the view. */
const styled = (page: Page) =>
  page
    .getByRole('main')
    .evaluate('getComputedStyle(document.querySelector("main")).gridArea.startsWith("main")');

/** A view whose code and style sheet are loaded lazily. */
const PARTS = [
  { what: 'script', address: /\/assets\/slots-[^/]*\.js$/ },
  { what: 'style sheet', address: /\/assets\/slots-[^/]*\.css$/ },
];

for (const { what, address } of PARTS) {
  test(`a view whose ${what} failed once loads without a click, with its styles`, async ({ page, watch }) => {
    watch.allow(PROVOKED);
    const requestCount = await endRequests(page, address, 1);
    await page.goto(`${daemon().url}/overview`);
    await page.getByRole('link', { name: 'Slots', exact: true }).click();
    await expect(heading(page)).toHaveText('Slots');
    await expect(page.getByRole('main').getByText('agent').first()).toBeVisible();
    expect(requestCount()).toBeGreaterThan(1);
    const sheets = await page.evaluate<string[]>(
      `[...document.styleSheets].map((sheet) => sheet.href ?? '').filter((href) => href.includes('/slots-'))`,
    );
    expect(sheets.length).toBeGreaterThan(0);
    expect(new Set(sheets).size, 'each style sheet is loaded once').toBe(sheets.length);
  });
}

test('a missing view needs one reload, which keeps the text of the playground', async ({ page, watch }) => {
  watch.allow(PROVOKED);
  let pages = 0;
  page.on('load', () => {
    pages += 1;
  });
  // The browser caches the failed import: the script fails as long as it is the first page.
  await page.route(/\/assets\/slots-[^/]*\.js$/, (route) =>
    pages < 2 ? route.abort('failed') : route.continue(),
  );
  await page.goto(`${daemon().url}/playground`);
  await composer(page).fill('typed before');
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.evaluate('window.marker = "the same page"');
  await page.getByRole('link', { name: 'Slots', exact: true }).click();
  await expect(page.getByRole('main').getByText('agent').first()).toBeVisible();
  await expect(page).toHaveURL(/\/slots$/);
  expect(pages).toBe(2);
  expect(await page.evaluate('window.marker')).toBeUndefined();
  await expect(page.getByText('The dashboard was updated.')).toHaveCount(0);
  await page.getByRole('link', { name: 'Playground' }).click();
  await expect(composer(page)).toHaveValue('typed before');
});

for (const ending of ['js', 'css']) {
  const address = new RegExp(`/assets/hardware-[^/]*\\.${ending}$`);
  test(`a view whose ${ending} never loads shows an error, the rest works, and a click retries it`, async ({
    page,
    watch,
  }) => {
    watch.allow(PROVOKED);
    await endRequests(page, address, Number.POSITIVE_INFINITY);
    await page.goto(`${daemon().url}/hardware`);
    await expect(alert(page)).toContainText('The hardware could not be loaded.');
    await expect(alert(page)).toContainText('The gateway is still running.');
    await expect(heading(page)).toHaveText('Hardware');
    if (ending === 'js') await inspect(page, 'view-missing', ALL_LAYOUTS);
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await expect(heading(page)).toHaveText('Everything is fine');
    await page.getByRole('link', { name: 'Hardware', exact: true }).click();
    await expect(alert(page)).toContainText('The hardware could not be loaded.');
    await page.unroute(address);
    await alert(page).getByRole('button', { name: 'Try again' }).click();
    await expect(alert(page)).toHaveCount(0);
    await expect(page.getByRole('main').getByText('CPU').first()).toBeVisible();
  });
}

test('a streaming answer is not interrupted for a view', async ({ page, watch }) => {
  watch.allow(PROVOKED);
  await page.route('**/v1/chat/completions', () => {}); // runs as long as the test
  await endRequests(page, /\/assets\/models-[^/]*\.js$/, Number.POSITIVE_INFINITY);
  await sendMessage(page, daemon().url, 'Hello');
  await expect(turns(page)).toHaveCount(2);
  await page.evaluate('window.marker = "the same page"');
  await page.getByRole('link', { name: 'Models', exact: true }).click();
  await expect(alert(page)).toContainText('such as a streaming answer, is interrupted');
  expect(await page.evaluate('window.marker')).toBe('the same page');
});

test('optional parts fail quietly: the graphs and the Markdown of an answer', async ({ page, watch }) => {
  watch.allow(PROVOKED);
  await endRequests(page, /\/assets\/(traffic|markdown)-[^/]*\.js$/, Number.POSITIVE_INFINITY);
  await page.goto(`${daemon().url}/overview`);
  await expect(page.getByText('The graphs could not be loaded.')).toBeVisible();
  await expect(heading(page)).toHaveText('Everything is fine');
  await sendMessage(page, daemon().url, '!');
  await waitForReply(page);
  await expect(turns(page).last()).toContainText('Hello from the tiny model.');
});

const FIRST = [
  { what: 'script', address: /\/assets\/index-[^/]*\.js$/ },
  { what: 'script that others need', address: /\/assets\/rolldown-runtime-[^/]*\.js$/ },
  { what: 'style sheet', address: /\/assets\/index-[^/]*\.css$/ },
  { what: 'boot script', address: /\/assets\/boot-[^/]*\.js$/ },
];

for (const { what, address } of FIRST) {
  test(`a first page whose ${what} failed once loads without a click`, async ({ page, watch }) => {
    watch.allow(PROVOKED);
    const requestCount = await endRequests(page, address, 1);
    await page.goto(`${daemon().url}/overview`);
    await expect(heading(page)).toHaveText('Everything is fine');
    await expect.poll(() => styled(page)).toBe(true);
    if (what !== 'boot script') expect(requestCount()).toBeGreaterThan(1);
    await expect(page.getByRole('alert')).toHaveCount(0);
  });
}

test('a first page that never loads shows an error, and a click retries it', async ({ page, watch }) => {
  watch.allow(PROVOKED);
  const index = /\/assets\/index-[^/]*\.js$/;
  const requestCount = await endRequests(page, index, Number.POSITIVE_INFINITY);
  await page.goto(`${daemon().url}/overview`);
  await expect(page.getByText('The dashboard is still loading.')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'The dashboard did not load' })).toBeVisible({
    timeout: 30_000,
  });
  const tries = requestCount();
  await page.unroute(index);
  await inspect(page, 'first-page-missing', TWO_LAYOUTS);
  expect(tries).toBeLessThan(10);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(heading(page)).toHaveText('Everything is fine');
});

test('a page without its boot script and its code still offers a reload', async ({ page, watch }) => {
  watch.allow(PROVOKED);
  const scripts = /\/assets\/[^/]*\.js$/;
  await endRequests(page, scripts, Number.POSITIVE_INFINITY);
  await page.goto(`${daemon().url}/overview`);
  await page.unroute(scripts);
  await page.getByRole('link', { name: 'reload it' }).click();
  await expect(heading(page)).toHaveText('Everything is fine');
});

test('after an update, a view of the older page reloads the new one with a note', async ({ page, watch }) => {
  watch.allow(PROVOKED);
  const removedAsset = /\/assets\/security-[^/]*\.js$/;
  let updated = false;
  // The page is older than the update: its part is gone, and the served page has other files.
  await page.route(removedAsset, (route) =>
    updated ? route.continue() : route.fulfill({ status: 404, json: {} }),
  );
  await page.route(
    ({ pathname }) => pathname === '/',
    async (route) => {
      const answer = await route.fetch();
      updated = true;
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replaceAll('/assets/index-', '/assets/index-2'),
      });
    },
  );
  await page.goto(`${daemon().url}/overview`);
  await page.getByRole('link', { name: 'Security', exact: true }).click();
  await expect(page).toHaveURL(/\/security/);
  await expect(heading(page)).toHaveText('Security');
  const note = page.getByRole('main').getByText('The dashboard was updated.');
  await expect(note).toBeVisible();
  await inspect(page, 'updated', TWO_LAYOUTS);
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(note).toHaveCount(0);
});

test('a gateway that returns with a newer dashboard offers a reload and clears nothing', async ({
  page,
  watch,
}) => {
  watch.allow(PROVOKED);
  await page.goto(`${daemon().url}/overview`);
  await expect(heading(page)).toHaveText('Everything is fine');
  // STAND-IN for a restart with another build.
  const isRoot = ({ pathname }: URL): boolean => pathname === '/';
  await page.route(isRoot, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replaceAll('/assets/index-', '/assets/index-2');
    await route.fulfill({ response: answer, body });
  });
  await page.route('**/api/**', (route) => route.abort('failed'));
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await expect(page.getByText('Can’t reach the gateway.')).toBeVisible();
  await page.unroute('**/api/**');
  const note = page.getByRole('main').getByText('The dashboard was updated.');
  await expect(note).toBeVisible();
  await inspect(page, 'update-offered', TWO_LAYOUTS);
  await page.unroute(isRoot);
  await page.getByRole('button', { name: 'Reload page' }).click();
  await expect(note).toHaveCount(0);
  await expect(heading(page)).toHaveText('Requests');
});
