import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright/test';
import type { Gateway } from '../../daemon/test/harness/gateway.ts';
import { login } from '../../daemon/test/harness/http.ts';

/** The field of the login page or dialog. */
export const keyField = (page: Page): Locator => page.getByLabel('Admin key', { exact: true });

/** The session chip of the top bar, shown while this browser is logged in. */
export const sessionChip = (page: Page): Locator =>
  page.getByRole('banner').getByRole('button', { name: /^Session, time left/ });

/** Types a key and submits it. */
export async function enter(page: Page, key: string): Promise<void> {
  await keyField(page).fill(key);
  await keyField(page).press('Enter');
}

/** Reads a key from `api.env`. */
export function keyIn(gateway: Gateway, name: 'SVC_ADMIN_KEY' | 'SVC_CLIENT_KEY'): string {
  const text = readFileSync(join(gateway.home, 'config', 'api.env'), 'utf8');
  const key = new RegExp(`^${name}=(.+)$`, 'm').exec(text)?.[1];
  if (key === undefined) throw new Error(`api.env holds no ${name}`);
  return key;
}

/** Creates a session for this browser without the login page. */
export async function giveSession(page: Page, gateway: Gateway, key: string): Promise<void> {
  const [name = '', value = ''] = (await login(gateway, key)).split(/=(.*)/);
  await page.context().addCookies([{ name, value, url: gateway.url, httpOnly: true, sameSite: 'Lax' }]);
}
