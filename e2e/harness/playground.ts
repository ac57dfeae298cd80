import type { Locator, Page } from 'playwright/test';
import { expect } from './test.ts';

/** Locators of the playground. */
export const composer = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' });
export const conversation = (page: Page): Locator => page.getByRole('region', { name: 'Conversation' });
export const turns = (page: Page): Locator => conversation(page).locator('ol > li');
const sendButton = (page: Page): Locator => page.getByRole('button', { name: 'Send', exact: true });
export const stopButton = (page: Page): Locator => page.getByRole('button', { name: 'Stop' });

/** Opens the playground and sends a message without waiting for the answer. */
export async function sendMessage(page: Page, url: string, text: string): Promise<void> {
  await page.goto(`${url}/playground`);
  await expect(page.getByRole('combobox', { name: 'Model' })).toHaveText('agent');
  await submitMessage(page, text);
}

/** Sends a message by keyboard. Waits for the list of models first: Enter sends nothing before. */
export async function submitMessage(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await expect(sendButton(page)).toBeEnabled();
  await composer(page).press('Enter');
}

/** Waits until the answer is complete. */
export async function waitForReply(page: Page): Promise<void> {
  await expect(conversation(page).getByRole('status').first()).toHaveText('The answer is complete.');
}
