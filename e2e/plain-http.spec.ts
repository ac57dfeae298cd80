import type { Page } from 'playwright/test';
import { DEMO_REPLY } from '../daemon/models/demo-model.ts';
import { startGateway } from '../daemon/test/harness/gateway.ts';
import { composer, sendMessage, turns, waitForReply } from './harness/playground.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const daemon = daemonOf(() => startGateway());
/** A name of the home network. Plain HTTP to it is no secure context, so the browser disables some APIs. */
const lan = (): string => `http://gateway.lan.test:${daemon().port}`;

/** Chromium warns that this header of every page works on HTTPS only. The page does not depend on it. */
test.beforeEach(({ watch }) => watch.allow(/^The Cross-Origin-Opener-Policy header has been ignored/));

const curl = (page: Page) => page.getByRole('region', { name: 'the curl command' });
const copyCurl = (page: Page) => page.getByRole('button', { name: 'Copy the curl command' });

test('the chat works without a secure context', async ({ page }) => {
  await sendMessage(page, lan(), 'Hello! Who are you?');
  expect(await page.evaluate('isSecureContext')).toBe(false);
  expect(await page.evaluate('navigator.clipboard === undefined && crypto.randomUUID === undefined')).toBe(
    true,
  );
  await waitForReply(page);
  await expect(turns(page).last()).toContainText(DEMO_REPLY);
});

test('copying works without the clipboard API', async ({ page }) => {
  await page.goto(`${lan()}/overview`);
  await expect(curl(page)).toContainText(`${lan()}/v1/chat/completions`);
  const command = (await curl(page).textContent()) ?? '';
  await copyCurl(page).click();
  await expect(copyCurl(page)).toHaveText('Copied');
  await expect(copyCurl(page)).toBeFocused();
  await page.getByRole('link', { name: 'Playground' }).click();
  await composer(page).focus();
  await page.keyboard.press('Control+V');
  await expect(composer(page)).toHaveValue(command);
});

test('when the browser refuses to copy, the text is selected and the keyboard shortcut is shown', async ({
  page,
}) => {
  await page.addInitScript('Document.prototype.execCommand = () => false;');
  await page.goto(`${lan()}/overview`);
  const command = (await curl(page).textContent()) ?? '';
  await copyCurl(page).click();
  await expect(copyCurl(page)).toHaveText('Selected: press Ctrl+C');
  expect(await page.evaluate('String(getSelection())')).toBe(command);
});

test('a host name that others could register is refused', async ({ page, watch }) => {
  watch.allow(/status of 403/);
  const answer = await page.goto(`http://home.rebound.io:${daemon().port}/overview`);
  expect(answer?.status()).toBe(403);
  expect(await answer?.text()).toContain('auth.host_forbidden');
});
