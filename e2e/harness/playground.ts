import type { Locator, Page } from 'playwright/test';
import { expect } from './test.ts';

/** Locators of the playground. */
export const composer = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' });
export const conversation = (page: Page): Locator => page.getByRole('region', { name: 'Conversation' });
export const turns = (page: Page): Locator => conversation(page).locator('ol > li');
export const stopButton = (page: Page): Locator => page.getByRole('button', { name: 'Stop' });

/** Opens the playground and sends a message without waiting for the answer. */
export async function sendMessage(page: Page, url: string, text: string): Promise<void> {
  await page.goto(`${url}/playground`);
  await expect(page.getByRole('combobox', { name: 'Model' })).toHaveText('agent');
  await composer(page).fill(text);
  await composer(page).press('Enter');
}

/** Waits until the answer is complete. */
export async function waitForReply(page: Page): Promise<void> {
  await expect(conversation(page).getByRole('status').first()).toHaveText('The answer is complete.');
}
