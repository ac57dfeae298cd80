import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import type { SetupView } from '../daemon/contract/setup.ts';
import { tinyEmbed } from '../daemon/models/testing/gguf/tiny-embed.ts';
import { encodeGguf } from '../daemon/models/testing/gguf/writer.ts';
import { startHub } from '../daemon/models/testing/hub.ts';
import { startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { startTiny } from '../daemon/test/harness/tiny-gateway.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { expect, test } from './harness/test.ts';

const chat = { model: 'agent', messages: [{ role: 'user', content: 'x' }], max_tokens: 4 };
const issues = (page: Page) => page.getByRole('list', { name: 'Issues' });

test('the overview is fine only while the models fit into memory and requests succeed', async ({ page }) => {
  const gateway = await startTiny();
  try {
    await send(gateway, 'POST', '/v1/chat/completions', { body: chat });
    await page.goto(`${gateway.url}/overview`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Everything is fine');
    await expect(page.getByRole('main')).toContainText('no request failed in the last hour');
    await test.step('a memory limit that no slot fits into', async () => {
      await send(gateway, 'PUT', '/api/settings', { body: { values: { memoryLimit: '1 MB' } } });
      await send(gateway, 'POST', '/api/slots/agent/unload');
      const refused = await send(gateway, 'POST', '/v1/chat/completions', { body: chat });
      expect(refused.status).toBe(507);
      await page.reload();
      await expect(issues(page)).toContainText(/Slot agent cannot load tiny\. Not enough memory.* short/);
      await expect(issues(page)).toContainText('1 of 2 requests failed in the last 15 minutes.');
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('2 issues');
      await expect(page.getByRole('main')).toContainText('1 of 2 requests failed in the last hour');
      await inspect(page, 'overview-no-memory', ALL_LAYOUTS);
    });
    await test.step('each issue leads to its cause', async () => {
      await page.getByRole('link', { name: /^View ?: requests/ }).click();
      await expect(page).toHaveURL(/\/requests\?only=failed$/);
      await expect(page.getByRole('table', { name: 'Requests' }).getByRole('row')).toHaveCount(2);
    });
  } finally {
    // The page would report requests that fail.
    await page.close();
    await gateway.stop();
    gateway.remove();
  }
});

test('setup is done only when every chosen model is ready; the overview lists the others', async ({
  page,
}) => {
  const hub = await startHub({});
  const gateway = await startGateway({
    home: mkdtempSync(join(tmpdir(), 'svc-e2e-')),
    env: { HF_ENDPOINT: hub.url, SVC_MEMORY_LIMIT: '6000000000' },
  });
  try {
    // The hub has the embedding model only, so the chat model cannot be downloaded.
    const setup = async () => (await send(gateway, 'GET', '/api/setup')).json<SetupView>();
    await expect
      .poll(async () => (await setup()).set?.items.map(({ purpose }) => purpose))
      .toContain('embedding');
    const item = (await setup()).set?.items.find(({ purpose }) => purpose === 'embedding');
    const [repo = '', quantisation = ''] = item?.model.split(':') ?? [];
    const bytes = Buffer.from(encodeGguf(tinyEmbed()));
    hub.repos[repo] = { files: { [`embed-${quantisation || 'Q8_0'}.gguf`]: bytes }, licence: 'apache-2.0' };
    await page.goto(`${gateway.url}/setup`);
    const models = page.getByRole('region', { name: 'Models for this machine' });
    await expect(models.getByRole('checkbox', { name: /^Semantic/ })).toBeChecked();
    for (const box of await models.getByRole('checkbox').all()) {
      const name = (await box.locator('..').textContent()) ?? '';
      if (!/^(Chat|Semantic)/.test(name)) await box.uncheck();
    }
    await models.getByRole('button', { name: /^Download and start/ }).click();
    await expect(models.getByText(/^\d of 2 ready, 1 failed$/)).toBeVisible();
    await expect(models.getByText('1 of 2 ready, 1 failed')).toBeVisible();
    await expect(models.getByText('Done', { exact: true })).toHaveCount(0);
    await inspect(page, 'setup-partly-failed', TWO_LAYOUTS);
    await page.goto(`${gateway.url}/overview`);
    await expect(issues(page)).toContainText(/Setup could not start .* in slot agent: /);
    await expect(page.getByRole('heading', { level: 1 })).not.toHaveText('Everything is fine');
    await page.getByRole('link', { name: /^View ?: setup agent/ }).click();
    await expect(page).toHaveURL(/\/setup$/);
  } finally {
    // The page would report requests that fail.
    await page.close();
    await gateway.stop();
    gateway.remove();
    await hub.close();
  }
});
