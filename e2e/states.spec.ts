import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tinyChat } from '../daemon/models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../daemon/models/testing/gguf/writer.ts';
import { KEYS_FILE } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { waitForSlotState } from '../daemon/test/harness/slots.ts';
import { startTiny } from '../daemon/test/harness/tiny-gateway.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { composer, turns } from './harness/playground.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** A model file that llama.cpp refuses: the header is valid, but a tensor is missing. */
function writeDamagedModel(home: string): void {
  const folder = join(home, 'state', 'models');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { keys, tensors } = tinyChat({ name: 'damaged' });
  writeFileSync(join(folder, 'damaged.gguf'), encodeGguf({ keys, tensors: tensors.slice(0, -1) }));
}

/** Without enforcement, with a real model in one slot and a damaged one in another. */
const daemon = daemonOf(async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-e2e-'));
  writeDamagedModel(home);
  const files = { ...KEYS_FILE, 'config/slots/broken.toml': 'model = "damaged"\n' };
  const gateway = await startTiny({ home, files });
  await send(gateway, 'POST', '/api/slots/broken/load');
  await waitForSlotState(gateway, 'broken', 'error');
  return gateway;
});

test('the overview shows a failed slot with the reason and the next step', async ({ page }) => {
  await page.goto(`${daemon().url}/overview`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^1 issue$/);
  const concern = page.getByRole('list', { name: 'Issues' }).getByRole('listitem');
  await expect(concern).toContainText('Slot broken failed: ');
  await inspect(page, 'overview-attention', TWO_LAYOUTS);
});

test('a refused request in the playground', async ({ page, watch }) => {
  watch.allow(/status of 503 .*\/v1\/chat\/completions$/);
  await page.goto(`${daemon().url}/playground`);
  await page.getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option', { name: /^broken/ }).click();
  await composer(page).fill('Hello');
  await composer(page).press('Enter');
  await expect(turns(page).last().getByRole('alert')).toBeVisible();
  await inspect(page, 'playground-refused', TWO_LAYOUTS);
});

test('lists and menus that open above a view', async ({ page }) => {
  await page.goto(`${daemon().url}/playground`);
  await page.getByRole('combobox', { name: 'Model' }).click();
  await expect(page.getByRole('listbox')).toBeVisible();
  const names = await page.getByRole('option').allTextContents();
  expect(new Set(names).size).toBe(names.length);
  await inspect(page, 'model-list', TWO_LAYOUTS);
  await test.step('each model is one row; its other names are found by typing', async () => {
    await expect(page.getByRole('option', { name: /^agent/ })).toHaveCount(1);
    await expect(page.getByRole('option', { name: /^agent/ })).toContainText('svc/agent');
    await page.getByRole('combobox', { name: 'Search models' }).fill('hermes');
    await expect(page.getByRole('option')).toHaveText(/^agent-hermes/);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('combobox', { name: 'Model' })).toHaveText('agent-hermes');
    await page.getByRole('combobox', { name: 'Model' }).click();
    await page.getByRole('combobox', { name: 'Search models' }).fill('nothing like it');
    await expect(page.getByText('No model matches.')).toBeVisible();
  });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Theme/ }).click();
  await expect(page.getByRole('menu')).toBeVisible();
  await inspect(page, 'theme-menu', TWO_LAYOUTS);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+K');
  await expect(page.getByRole('dialog', { name: 'Command palette' })).toBeVisible();
  await inspect(page, 'palette', TWO_LAYOUTS);
});

test('on a phone the parameters and the code open over the chat', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${daemon().url}/playground`);
  await page.getByRole('button', { name: 'Parameters and code' }).click();
  const panel = page.getByRole('dialog', { name: 'Parameters and code' });
  await panel.getByRole('textbox', { name: 'Max tokens' }).fill('9');
  await panel.getByRole('tab', { name: 'Code' }).click();
  await expect(panel).toContainText('"max_tokens": 9');
  await inspect(page, 'parameters', ALL_LAYOUTS.slice(2));
  await panel.getByRole('button', { name: 'Done' }).click();
  await expect(panel).toHaveCount(0);
});

test('a rotated key', async ({ page }) => {
  await page.goto(`${daemon().url}/security/rotate?tier=client`);
  await page.getByRole('button', { name: 'Rotate the client key…' }).click();
  await inspect(page, 'rotate-confirm', TWO_LAYOUTS);
  await page.getByRole('button', { name: 'Rotate the client key', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'New client key' })).toBeVisible();
  await inspect(page, 'rotate-result', TWO_LAYOUTS);
});

test('empty views show the next step', async ({ page }) => {
  await page.goto(`${daemon().url}/security/sessions`);
  await expect(page.getByText('No active sessions')).toBeVisible();
  await inspect(page, 'sessions-empty', TWO_LAYOUTS);
  await page.goto(`${daemon().url}/security/exposure?q=nothing+like+it`);
  await expect(page.getByText('No routes match')).toBeVisible();
  await inspect(page, 'exposure-empty', TWO_LAYOUTS);
  await page.route('**/api/slots', (route) => route.fulfill({ json: { slots: [] } }));
  await page.route('**/v1/models', (route) => route.fulfill({ json: { object: 'list', data: [] } }));
  await page.goto(`${daemon().url}/overview`);
  await expect(page.getByText('No slots yet')).toBeVisible();
  await inspect(page, 'overview-empty', TWO_LAYOUTS);
  await page.goto(`${daemon().url}/playground`);
  await expect(page.getByText('No chat model yet')).toBeVisible();
  await inspect(page, 'playground-empty', TWO_LAYOUTS);
});
