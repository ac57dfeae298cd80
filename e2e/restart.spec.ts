import type { Page } from 'playwright/test';
import type { Gateway } from '../daemon/test/harness/gateway.ts';
import { ENDLESS, startTiny } from '../daemon/test/harness/tiny-gateway.ts';
import { inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import {
  composer,
  conversation,
  sendMessage,
  submitMessage,
  turns,
  waitForReply,
} from './harness/playground.ts';
import { expect, test } from './harness/test.ts';

let gateway: Gateway;
test.beforeAll(async () => {
  gateway = await startTiny();
});
test.afterAll(async () => {
  await gateway.stop();
  gateway.remove();
});

/** Starts the gateway again with the same address and home, like a restart by the service manager. */
const startAgain = (): Promise<Gateway> =>
  startTiny({ home: gateway.home, env: { SVC_PORT: String(gateway.port) } });

const PROVOKED =
  /CONNECTION_(REFUSED|RESET)|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|status of 503 .*\/api\//;
const bar = (page: Page) => page.getByRole('main').getByText('Can’t reach the gateway.');
const staleView = (page: Page) => page.locator('[data-stale]');

test('a restart shows a bar and marks data as outdated, loses nothing, and recovers without a click', async ({
  page,
  watch,
}) => {
  watch.allow(PROVOKED);
  await page.goto(`${gateway.url}/playground`);
  await composer(page).fill('typed before the restart');
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Everything is fine');
  // The graphs load late. Requests for them that a stopping gateway refuses are not part of this test.
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

test('when the daemon dies during an answer the text stays, and the answer can be requested again', async ({
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
  await submitMessage(page, '!');
  await waitForReply(page);
  await expect(conversation(page)).toContainText('Hello from the tiny model.');
});
