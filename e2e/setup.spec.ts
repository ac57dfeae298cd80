import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tinyChat } from '../daemon/models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../daemon/models/testing/gguf/tiny-embed.ts';
import { encodeGguf } from '../daemon/models/testing/gguf/writer.ts';
import { type FakeHub, startHub } from '../daemon/models/testing/hub.ts';
import { type Gateway, startGateway } from '../daemon/test/harness/gateway.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { submitMessage, turns, waitForReply } from './harness/playground.ts';
import { expect, test } from './harness/test.ts';

const REPLY = 'From nothing to an answer.';
/** Memory for little more than the smallest chat model of the catalogue, on any machine. */
const MEMORY = '1900000000';
let hub: FakeHub;
let gateway: Gateway;

/** An empty state folder, and a hub on the loopback address with tiny models under the names of the catalogue. */
test.beforeAll(async () => {
  const file = (name: string, model: Parameters<typeof encodeGguf>[0]) => ({
    files: { [name]: Buffer.from(encodeGguf(model)) },
    licence: 'apache-2.0',
  });
  hub = await startHub({
    'ggml-org/Qwen3.5-0.8B-GGUF': file(
      'Qwen3.5-0.8B-Q8_0.gguf',
      tinyChat({ reply: REPLY, runs: false, width: 64 }),
    ),
    'nomic-ai/nomic-embed-text-v1.5-GGUF': file('nomic-embed-text-v1.5.Q8_0.gguf', tinyEmbed()),
  });
  const home = mkdtempSync(join(tmpdir(), 'svc-e2e-'));
  mkdirSync(join(home, '.cache', 'llama.cpp'), { recursive: true });
  writeFileSync(join(home, '.cache', 'llama.cpp', 'older.gguf'), encodeGguf(tinyEmbed()));
  gateway = await startGateway({
    home,
    env: { HF_ENDPOINT: hub.url, SVC_MEMORY_LIMIT: MEMORY },
    files: { 'config/config.toml': '[security]\nallow_public_without_auth = true\n' },
  });
});
test.afterAll(async () => {
  await gateway?.stop();
  gateway?.remove();
  await hub?.close();
});

test('from an empty folder to the first answer of a downloaded model', async ({ page, browser }) => {
  await page.goto(`${gateway.url}/`);
  await expect(page).toHaveURL(/\/setup$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Gateway setup');
  const models = page.getByRole('region', { name: 'Models for this machine' });
  await expect(models.getByRole('list', { name: 'Detected hardware' })).toContainText(/GiB of RAM/);
  await expect(models.getByRole('checkbox', { name: /^Chat/ })).toBeChecked();
  await expect(models.getByText(/^Total download/)).toBeVisible();
  await inspect(page, 'setup', ALL_LAYOUTS);

  await test.step('models of another program are added', async () => {
    await models.getByRole('button', { name: 'Use models from llama.cpp' }).click();
    await expect(models.getByText('In use')).toBeVisible();
  });
  await test.step('deselected models are skipped; the others download slowly', async () => {
    for (const box of await models.getByRole('checkbox').all()) {
      const name = (await box.locator('..').textContent()) ?? '';
      if (!name.startsWith('Chat')) await box.uncheck();
    }
    hub.fault = { slowMs: 100 };
    await models.getByRole('button', { name: 'Download and start this model' }).click();
    await expect(models.getByRole('list', { name: 'Model downloads' })).toContainText(/in slot agent/);
    await expect(models.getByText('Downloads continue if you close this page')).toBeVisible();
    await inspect(page, 'setup-fetching', TWO_LAYOUTS);
  });
  await test.step('the overview links back to the setup, in another browser too', async () => {
    await page.goto(`${gateway.url}/overview`);
    await page.getByRole('link', { name: 'Continue setup' }).click();
    const other = await browser.newPage();
    await other.goto(`${gateway.url}/`);
    await expect(other).toHaveURL(/\/setup$/);
    await expect(other.getByRole('list', { name: 'Model downloads' })).toBeVisible();
    await other.close();
  });
  hub.fault = {};
  await test.step('the network exposure is chosen and applies from the next start', async () => {
    const reach = page.getByRole('region', { name: 'Network access' });
    await reach.getByRole('radio', { name: /^My network/ }).check();
    await expect(reach.getByText(/there is no key yet/)).toBeVisible();
    await reach.getByRole('button', { name: 'Open to my network' }).click();
    await expect(reach.getByText('Takes effect after a restart')).toBeVisible();
  });
  await test.step('the key can be set later', async () => {
    const key = page.getByRole('region', { name: 'Admin key' });
    await expect(key.getByText('svcctl auth rotate admin')).toBeVisible();
    await key.getByRole('button', { name: 'Skip: Admin key' }).click();
    await expect(key.getByText('Skipped')).toBeVisible();
  });
  await expect(models.getByRole('listitem').filter({ hasText: 'in slot agent' })).toContainText('Ready');
  await inspect(page, 'setup-done', TWO_LAYOUTS);

  await page.getByRole('link', { name: 'Start a chat' }).click();
  await submitMessage(page, 'Hello');
  await waitForReply(page);
  await expect(turns(page).last()).toContainText(REPLY);

  await page.goto(`${gateway.url}/setup`);
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page).toHaveURL(/\/overview$/);
  await expect(page.getByRole('link', { name: 'Continue setup' })).toHaveCount(0);
  await page.goto(`${gateway.url}/`);
  await expect(page).toHaveURL(/\/overview$/);
});

test('an unreachable hub is reported with the next steps', async ({ page }) => {
  hub.fault = {};
  await page.route('**/api/setup', async (route) => {
    const answer = await route.fetch();
    const view = await answer.json();
    const error = {
      code: 'pull.hub_unreachable',
      message: 'The host name of the hub cannot be resolved. Check HF_ENDPOINT and the network connection.',
    };
    const work = view.work.map((one: object) => ({ ...one, phase: 'failed', pull: null, error }));
    const hidden = { tool: 'Home folder', path: '/home/ann', state: 'hidden', models: null };
    const text = '[Service]\nProtectHome=tmpfs\nBindReadOnlyPaths=-/home/ann/.ollama/models';
    await route.fulfill({
      json: {
        ...view,
        real_model: false,
        work,
        steps: view.steps.map((step: object) => ({ ...step, state: 'open' })),
        folders: [...view.folders, hidden],
        drop_in: { command: 'sudo systemctl edit svc-gateway', text },
        reach: { ...view.reach, public: true, held_by: 'environment' },
      },
    });
  });
  await page.goto(`${gateway.url}/setup`);
  await expect(page.getByText('This machine can’t reach the model hub')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Try the demo model' })).toBeVisible();
  await expect(page.getByText('overrides this choice')).toBeVisible();
  await page.getByText('Folders that cannot be read (1)').click();
  await expect(page.getByText('BindReadOnlyPaths=-/home/ann/.ollama/models')).toBeVisible();
  await page.getByText('Use a model file already on this machine').click();
  await inspect(page, 'setup-offline', TWO_LAYOUTS);
});

test('a file that is no model is refused with a reason, and the input is preserved', async ({
  page,
  watch,
}) => {
  watch.allow(/status of 422/);
  await page.goto(`${gateway.url}/setup`);
  await page.getByRole('button', { name: 'Reopen: Models for this machine' }).click();
  await page.getByText('Use a model file already on this machine').click();
  const path = page.getByRole('textbox', { name: 'Path on the gateway machine' });
  await path.fill('/nowhere/model.gguf');
  await path.press('Enter');
  await expect(page.getByRole('alert')).toContainText(/^The file does not exist\./);
  await expect(path).toHaveValue('/nowhere/model.gguf');
});
