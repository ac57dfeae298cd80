import type { Page } from 'playwright/test';
import { QUIET_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { ENDLESS, startTiny } from '../daemon/test/harness/tiny-gateway.ts';
import { composer, submitMessage, turns } from './harness/playground.ts';
import { daemonOf, expect, test } from './harness/test.ts';

test.use({ contextOptions: { reducedMotion: 'no-preference' } });

const daemon = daemonOf(() => startTiny());

/** Presses Tab until an element with this name has the focus; at most 40 times. */
async function tabTo(page: Page, role: 'link' | 'button' | 'textbox', name: string | RegExp): Promise<void> {
  const target = page.getByRole(role, { name });
  for (let tries = 0; tries < 40; tries += 1) {
    await page.keyboard.press('Tab');
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
  }
  throw new Error(`no ${role} ${name} within 40 steps`);
}

const theme = (page: Page) => page.evaluate<string>('document.documentElement.dataset.theme ?? "system"');

test('the first Tab offers to skip to the view, and every focus is visible', async ({ page }) => {
  await page.goto(`${daemon().url}/overview`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Everything is fine');
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.querySelector("main").contains(document.activeElement)')).toBe(true);
  await expect
    .poll(() => page.evaluate('getComputedStyle(document.activeElement).outlineStyle'))
    .toBe('solid');
});

test('the navigation rail opens the views, and the focus follows', async ({ page }) => {
  await page.goto(`${daemon().url}/overview`);
  await tabTo(page, 'link', 'Playground');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/playground$/);
  await expect(page.getByRole('main')).toBeFocused();
  await expect(page.getByRole('link', { name: 'Playground' })).toHaveAttribute('aria-current', 'page');
  await tabTo(page, 'textbox', 'Message');
  await page.keyboard.type(ENDLESS);
  await page.keyboard.press('Enter');
  await expect(turns(page).last()).toContainText('bcdef');
  await expect(composer(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(turns(page).last()).toContainText('Stopped');
});

test('the palette opens with Ctrl+K, filters while typing, and Esc restores the focus', async ({ page }) => {
  await page.goto(`${daemon().url}/overview`);
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Everything is fine');
  await tabTo(page, 'link', 'Chat in the browser');
  await page.keyboard.press('Control+K');
  await expect(palette).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(palette).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Chat in the browser' })).toBeFocused();
  await page.keyboard.press('Control+K');
  await expect(palette.getByRole('combobox')).toBeFocused();
  await page.keyboard.type('expo');
  await expect(palette.getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/security\/exposure$/);
  await page.keyboard.press('Control+K');
  await page.keyboard.type('theme: dark');
  await page.keyboard.press('Enter');
  await expect.poll(() => theme(page)).toBe('dark');
});

test('the theme menu works by keyboard, and the choice survives a reload', async ({ page }) => {
  await page.goto(`${daemon().url}/overview`);
  await tabTo(page, 'button', /^Theme/);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitemradio', { name: 'System' })).toBeChecked();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menu')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Theme: dark' })).toBeFocused();
  await page.reload();
  expect(await theme(page)).toBe('dark');
});

test('with reduced motion nothing moves, even while an answer is pending', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const gateway = await startGateway({ files: QUIET_FILE });
  try {
    const moving = () =>
      page.evaluate<number>(
        'document.getAnimations().filter((one) => one.playState === "running" && one.effect.getComputedTiming().duration > 0).length',
      );
    await page.goto(`${gateway.url}/playground`);
    // Never answered: the demonstration model would answer before the pending state is checked.
    await page.route('**/v1/chat/completions', () => {});
    await submitMessage(page, 'Hello');
    await expect(page.getByText('Waiting for the first token')).toBeAttached();
    expect(await moving()).toBe(0);
    await page.goto(`${gateway.url}/overview`);
    expect(await moving()).toBe(0);
  } finally {
    await page.close(); // it would report the lost gateway
    await gateway.stop();
    gateway.remove();
  }
});
