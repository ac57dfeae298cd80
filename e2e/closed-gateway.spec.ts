import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import { startGateway } from '../daemon/test/harness/gateway.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { enter, keyField, keyIn, sessionChip } from './harness/login.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** A gateway that requires keys but has none. */
const daemon = daemonOf(() => startGateway({ files: { 'config/api.env': 'SVC_REQUIRE_AUTH=on' } }));

const title = 'The gateway is closed until an admin key is set';
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

test('every URL shows that the gateway is closed, and sends no refused request', async ({ page }) => {
  for (const path of ['/', '/overview', '/login', '/settings']) {
    await page.goto(`${daemon().url}${path}`);
    await expect(heading(page)).toHaveText(title);
  }
  await expect(page.getByRole('banner').getByText('closed')).toBeVisible();
  await expect(page.getByRole('banner').getByRole('button', { name: 'Log in' })).toHaveCount(0);
  await expect(page.getByText('sudo -u svc sh -c')).toBeVisible();
  await inspect(page, 'closed', ALL_LAYOUTS);
});

test('setup works as far as possible, and shows the same commands for the key', async ({ page }) => {
  await page.goto(`${daemon().url}/overview`);
  await page.getByRole('link', { name: 'Choose models meanwhile' }).click();
  await expect(heading(page)).toHaveText('Gateway setup');
  await expect(page.getByText('The gateway is closed: keys are required')).toBeVisible();
  const key = page.getByRole('region', { name: 'Admin key' });
  await expect(key.getByText('sudo -u svc sh -c')).toBeVisible();
  await expect(key.getByText('svcctl auth rotate')).toHaveCount(0);
  await expect(page.getByText('Use a model file already on this machine')).toHaveCount(0);
  await expect(page.getByRole('list', { name: 'Detected hardware' })).toBeVisible();
  await inspect(page, 'setup-closed', TWO_LAYOUTS);
  const reach = page.getByRole('region', { name: 'Network access' });
  await reach.getByRole('button', { name: 'Skip: Network access' }).click();
  await expect(reach.getByText('Skipped')).toBeVisible();
});

test('the shown command sets a key; the login appears and leads to the requested view', async ({ page }) => {
  await page.goto(`${daemon().url}/settings`);
  await expect(heading(page)).toHaveText(title);
  const command = await page
    .getByRole('main')
    .locator('code', { hasText: '~/.config/svc/api.env' })
    .first()
    .textContent();
  const { home } = daemon();
  mkdirSync(join(home, '.config'));
  symlinkSync(join(home, 'config'), join(home, '.config', 'svc'));
  const ran = spawnSync('sh', ['-c', command ?? 'false'], {
    env: { PATH: process.env.PATH ?? '', HOME: home },
  });
  expect(ran.status).toBe(0);
  await expect(keyField(page)).toBeVisible();
  await enter(page, keyIn(daemon(), 'SVC_ADMIN_KEY'));
  await expect(sessionChip(page)).toBeVisible();
  await expect(page).toHaveURL(/\/settings$/);
  await expect(heading(page)).toHaveText('Settings');
});
