import { DEMO_REPLY } from '../daemon/models/demo-model.ts';
import { startGateway } from '../daemon/test/harness/gateway.ts';
import { ALL_LAYOUTS, inspect } from './harness/inspect-layouts.ts';
import { composer, conversation, sendMessage, turns, waitForReply } from './harness/playground.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const daemon = daemonOf(() => startGateway());

test('the overview of a fresh install has no issues and shows who can use it', async ({ page }) => {
  await page.goto(`${daemon().url}/`);
  await expect(page).toHaveURL(/\/setup$/);
  await page.getByRole('button', { name: 'Do this later' }).click();
  await expect(page).toHaveURL(/\/overview$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Everything is fine');
  await expect(page.getByRole('banner').getByText('open to this machine')).toBeVisible();
  await expect(page.getByRole('banner').getByRole('link', { name: 'No login needed' })).toBeVisible();
  const slot = page.getByRole('table', { name: 'Slots' }).getByRole('row', { name: /agent/ });
  await expect(slot).toContainText('svc-demo (demo)');
  await expect(slot).toContainText('Ready');
  await expect(page.getByRole('meter').first()).toHaveAttribute('aria-valuetext', /GiB of .* GiB in use/);
  await expect(page.getByRole('region', { name: 'the curl command' })).toContainText(
    `${daemon().url}/v1/chat/completions`,
  );
});

test('the playground streams the demo answer and names its slot', async ({ page }) => {
  await sendMessage(page, daemon().url, 'Hello! Who are you?');
  await waitForReply(page);
  await expect(turns(page)).toHaveCount(2);
  await expect(turns(page).last()).toContainText(DEMO_REPLY);
  await expect(turns(page).last()).toContainText(/agent · \d+ tokens/);
  await expect(page.getByText('This is the demo model.')).toBeVisible();
  await inspect(page, 'playground-answer', ALL_LAYOUTS);
  await test.step('a reload keeps the conversation', async () => {
    await page.reload();
    await expect(turns(page).last()).toContainText(DEMO_REPLY);
  });
  await test.step('a new conversation can be undone', async () => {
    await page.getByRole('button', { name: 'New conversation' }).click();
    await expect(turns(page)).toHaveCount(0);
    await page.getByRole('button', { name: 'Restore last conversation' }).click();
    await expect(turns(page)).toHaveCount(2);
  });
});

test('parameters are sent, and the same request is shown as code', async ({ page }) => {
  await page.goto(`${daemon().url}/playground`);
  await page.getByRole('textbox', { name: 'Max tokens' }).fill('12');
  await page.getByRole('textbox', { name: 'System prompt' }).fill('Be brief.');
  await page.getByRole('tab', { name: 'Code' }).click();
  await composer(page).fill('Count');
  const code = page.getByRole('region', { name: 'the request in curl' });
  await expect(code).toContainText('"max_tokens": 12');
  await expect(code).toContainText('Be brief.');
  await composer(page).press('Enter');
  const announcement = conversation(page).getByRole('status').first();
  await expect(announcement).toHaveText('The answer reached the token limit.');
  await expect(turns(page).last()).toContainText('Token limit reached');
  await expect(turns(page).last()).toContainText('12 tokens');
  await expect(conversation(page)).not.toContainText(DEMO_REPLY);
});

test('an unknown URL links back to the overview', async ({ page }) => {
  await page.goto(`${daemon().url}/overview`);
  await page.goto(`${daemon().url}/security/nowhere`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Page not found');
  await page.getByRole('link', { name: 'Open overview' }).click();
  await expect(page).toHaveURL(/\/overview$/);
  await page.goBack();
  await expect(page).toHaveURL(/\/security\/nowhere$/);
});
