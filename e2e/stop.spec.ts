import { until } from '../daemon/test/harness/gateway.ts';
import { slot } from '../daemon/test/harness/slots.ts';
import { ENDLESS, startTiny } from '../daemon/test/harness/tiny-gateway.ts';
import { composer, conversation, sendMessage, stopButton, turns } from './harness/playground.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** A real model whose answer takes several seconds. */
const daemon = daemonOf(() => startTiny());

test('Stop ends a running answer immediately, on the page and in the engine', async ({ page }) => {
  await sendMessage(page, daemon().url, ENDLESS);
  await expect(turns(page).last()).toContainText('bcdefghijklm');
  await stopButton(page).click();
  await expect(turns(page).last()).toContainText('Stopped');
  await expect(stopButton(page)).toHaveCount(0);
  await until(async () => (await slot(daemon(), 'agent')).active === 0, 'the engine to stop', 2000);
});

test('Esc stops too, and an answer continues while another view is open', async ({ page }) => {
  await sendMessage(page, daemon().url, ENDLESS);
  await expect(turns(page).last()).toContainText('bcdefghijklm');
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(page.getByRole('row', { name: /agent/ })).toContainText('1 + 0');
  await page.goBack();
  await expect(stopButton(page)).toBeVisible();
  await composer(page).press('Escape');
  await expect(conversation(page).getByRole('status').first()).toHaveText('The answer was stopped.');
});
