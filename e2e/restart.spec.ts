import type { Page } from 'playwright/test';
import type { Gateway } from '../daemon/test/harness/gateway.ts';
import { ENDLESS, startTiny } from '../daemon/test/harness/tiny-gateway.ts';
import { inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { composer, conversation, sendMessage, turns, waitForReply } from './harness/playground.ts';
import { expect, test } from './harness/test.ts';

let gateway: Gateway;
test.beforeAll(async () => {
  gateway = await startTiny();
});
test.afterAll(async () => {
  await gateway.stop();
  gateway.remove();
});

/** The same address and home again: what a restart by the service manager looks like from the page. */
const startAgain = (): Promise<Gateway> =>
  startTiny({ home: gateway.home, env: { SVC_PORT: String(gateway.port) } });

const PROVOKED =
  /CONNECTION_(REFUSED|RESET)|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|status of 503 .*\/api\//;
const bar = (page: Page) => page.getByRole('main').getByText('Can’t reach the gateway.');
const staleView = (page: Page) => page.locator('[data-stale]');

test('a restart shows a thin bar and old data marked as old, loses nothing, and ends by itself', async ({
  page,
  watch,
}) => {
  watch.allow(PROVOKED);
  await page.goto(`${gateway.url}/playground`);
  await composer(page).fill('typed before the restart');
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Everything is fine');
  // The graphs are fetched late: what a gateway that ends refuses of them is not what this is about.
  await expect(page.getByRole('img', { name: /^Requests per minute/ })).toBeVisible();
  await gateway.stop();
  await expect(bar(page)).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Last known state: everything is fine');
  await expect(staleView(page)).toHaveCount(1);
  await expect(page.getByRole('row', { name: /agent/ })).toBeVisible();
  await inspect(page, 'connection-lost', TWO_LAYOUTS);
  await page.getByRole('link', { name: 'Playground' }).click();
  await expect(composer(page)).toHaveValue('typed before the restart');
  await composer(page).fill('typed while it was away');
  gateway = await startAgain();
  await expect(bar(page)).toHaveCount(0);
  await expect(staleView(page)).toHaveCount(0);
  await expect(composer(page)).toHaveValue('typed while it was away');
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Everything is fine');
});

test('a daemon that dies during an answer leaves the text, and the answer can be requested again', async ({
  page,
  watch,
}) => {
  watch.allow(PROVOKED);
  await sendMessage(page, gateway.url, ENDLESS);
  await expect(turns(page).last()).toContainText('bcdefghijklm');
  await gateway.stop('SIGKILL');
  await expect(turns(page).last().getByRole('alert')).toContainText('The response was interrupted.');
  await expect(turns(page).last()).toContainText('bcdefghijklm');
  await expect(bar(page)).toBeVisible();
  gateway = await startAgain();
  await expect(bar(page)).toHaveCount(0);
  await composer(page).fill('!');
  await composer(page).press('Enter');
  await waitForReply(page);
  await expect(conversation(page)).toContainText('Hello from the tiny model.');
});
