import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright/test';
import { writeToneVoice } from '../daemon/models/onnx/testing/tone-folders.ts';
import { tinyChat } from '../daemon/models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../daemon/models/testing/gguf/tiny-embed.ts';
import { encodeGguf } from '../daemon/models/testing/gguf/writer.ts';
import { type FakeHub, startHub } from '../daemon/models/testing/hub.ts';
import { possibleExamples, writeUnusable } from '../daemon/models/testing/unusable-examples.ts';
import { send } from '../daemon/test/harness/http.ts';
import { waitForSlotState } from '../daemon/test/harness/slots.ts';
import { startThree } from '../daemon/test/harness/three-models.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const REPO = 'maker/Tiny-Chat-GGUF';
const WRONG = 'maker/Wrong-Sums-GGUF';
const tiny = Buffer.from(encodeGguf(tinyChat({ name: 'pulled', width: 64, reply: 'I was pulled.' })));

/** STAND-IN for the model hub, which tests cannot reach: the same paths and headers on loopback. */
let hub: FakeHub;
test.beforeAll(async () => {
  hub = await startHub({
    [REPO]: { files: { 'tiny-Q8_0.gguf': tiny }, licence: 'apache-2.0' },
    [WRONG]: { files: { 'w-Q8_0.gguf': tiny }, promises: { 'w-Q8_0.gguf': '0'.repeat(64) } },
    'maker/Gated-GGUF': { files: { 'g-Q8_0.gguf': tiny }, gated: true },
  });
});
test.afterAll(() => hub.close());

/** Three real models with memory for one at a time; one is loaded. */
const daemon = daemonOf(async () => {
  const gateway = await startThree(undefined, { HF_ENDPOINT: hub.url });
  await send(gateway, 'POST', '/api/slots/red/load');
  await waitForSlotState(gateway, 'red', 'ready');
  return gateway;
});

const installed = (page: Page, id: string): Locator =>
  page.getByRole('list', { name: 'Installed models' }).getByRole('listitem').filter({ hasText: id });
const download = (page: Page, repo: string): Locator =>
  page.getByRole('list', { name: 'Active downloads' }).getByRole('listitem').filter({ hasText: repo });
const sheet = (page: Page, name: string): Locator => page.getByRole('dialog', { name });

test('installed and suggested models each have a badge with a reason', async ({ page }) => {
  await page.goto(`${daemon().url}/models`);
  await expect(installed(page, 'red-model')).toContainText('Ready');
  const badge = installed(page, 'green-model').getByRole('button', { name: /^Will unload red/ });
  await expect(badge).toBeVisible();
  await badge.focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  await expect(page.getByText(/^Loading it will unload red\. Needs about/)).toBeVisible();
  await inspect(page, 'models', ALL_LAYOUTS);
  await page.keyboard.press('Escape');
  await expect(page.getByText(/^Loading it will unload red\. Needs about/)).toHaveCount(0);
  await expect(page.getByRole('heading', { name: /^Qwen3.5 4B/ })).toBeVisible();
  await page.setViewportSize({ width: 360, height: 740 });
  await expect(page.getByRole('region', { name: 'Catalogue' })).toHaveCount(0);
  await page.getByRole('link', { name: 'Catalogue' }).click();
  await expect(page).toHaveURL(/\/models\/catalog$/);
  const known = page.getByRole('listitem').filter({ hasText: 'Qwen3.5 122B A10B' });
  await known.getByRole('button', { name: 'Does not fit' }).hover();
  await expect(page.getByText(/^It does not fit, even after/)).toBeVisible();
  await inspect(page, 'models-catalog', TWO_LAYOUTS.slice(1));
});

test('a model is found on the hub, pulled with pauses, and answers a chat', async ({ page }) => {
  hub.fault = { slowMs: 100 };
  await page.goto(`${daemon().url}/models`);
  await page.getByRole('searchbox', { name: 'Search the hub' }).fill('maker');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('list', { name: 'Found on the hub' }).getByRole('listitem')).toHaveCount(3);
  await test.step('the field follows Back and Forward', async () => {
    await page.goBack();
    await expect(page.getByRole('searchbox', { name: 'Search the hub' })).toHaveValue('');
    await page.goForward();
    await expect(page.getByRole('searchbox', { name: 'Search the hub' })).toHaveValue('maker');
  });
  await page.getByRole('button', { name: `Download… ${REPO}` }).click();
  const pullSheet = sheet(page, `Download ${REPO}`);
  await expect(pullSheet).toContainText('Licence: mit. Free for any use');
  await expect(pullSheet.getByRole('radio', { name: /^Q8_0/ })).toBeChecked();
  await inspect(page, 'models-pull', TWO_LAYOUTS.slice(0, 1));
  await pullSheet.getByRole('button', { name: 'Download' }).click();
  await expect(download(page, REPO)).toContainText('Downloading');
  await download(page, REPO)
    .getByRole('button', { name: /^Pause/ })
    .click();
  await expect(download(page, REPO)).toContainText('Paused');
  await page.reload();
  await expect(download(page, REPO)).toContainText('Paused');
  await inspect(page, 'models-paused', TWO_LAYOUTS.slice(1));
  hub.fault = {};
  await download(page, REPO)
    .getByRole('button', { name: /^Resume/ })
    .click();
  await expect(installed(page, 'tiny-Q8_0')).toBeVisible();
  await expect(page.getByRole('list', { name: 'Active downloads' })).toHaveCount(0);
  await installed(page, 'tiny-Q8_0').getByRole('button', { name: 'Load… tiny-Q8_0' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Load model', exact: true }).click();
  await installed(page, 'tiny-Q8_0').getByRole('button', { name: /^Chat/ }).click();
  await expect(page).toHaveURL(/\/playground$/);
  await expect(page.getByRole('combobox', { name: 'Model' })).toHaveText('tiny-Q8_0');
});

test('details are complete; a pulled model is deleted with its files after its name is typed', async ({
  page,
}) => {
  await page.goto(`${daemon().url}/models?show=details&of=tiny-Q8_0`);
  const details = sheet(page, 'tiny-Q8_0');
  await expect(details).toContainText('downloaded from the hub');
  await expect(details).toContainText(hub.commit(REPO));
  await expect(details.getByRole('button', { name: 'Copy the SHA-256 checksum' })).toBeVisible();
  await details.getByLabel('Default when not specified').selectOption('off');
  await expect(details.getByLabel('Default when not specified')).toHaveValue('off');
  await expect(details.getByLabel('Slot or upstream')).toBeVisible();
  await inspect(page, 'models-details', TWO_LAYOUTS);
  await details.getByRole('button', { name: 'Remove model…' }).click();
  const remove = page.getByRole('alertdialog', { name: 'Remove tiny-Q8_0?' });
  await expect(remove).toContainText(/Slot .* is using it/);
  const { slots } = (await send(daemon(), 'GET', '/api/slots')).json<{
    slots: { name: string; enabled: boolean; model: string }[];
  }>();
  const holder = slots.find(({ enabled, model }) => enabled && model === 'tiny-Q8_0');
  await send(daemon(), 'POST', `/api/slots/${holder?.name}/unload`);
  await expect(remove.getByRole('button', { name: 'Remove model' })).toBeDisabled();
  await remove.getByLabel('Type the model name to confirm').fill('tiny-Q8_0');
  await inspect(page, 'models-remove', TWO_LAYOUTS.slice(1));
  await remove.getByRole('button', { name: 'Remove model' }).click();
  await expect(installed(page, 'tiny-Q8_0')).toHaveCount(0);
});

test('a failed pull shows the next step, here and on the overview', async ({ page }) => {
  await send(daemon(), 'POST', '/api/models/pull', { body: { model: WRONG } });
  await page.goto(`${daemon().url}/models`);
  const item = download(page, WRONG);
  await expect(item).toContainText('Failed');
  await expect(item).toContainText('pull.checksum_mismatch');
  await expect(item).toContainText('Try again, or use another mirror.');
  await inspect(page, 'models-failed', TWO_LAYOUTS.slice(1));
  await page.goto(`${daemon().url}/overview`);
  const concern = page.getByRole('listitem').filter({ hasText: `The download of ${WRONG} failed` });
  await concern.getByRole('link', { name: /^View/ }).click();
  await expect(page).toHaveURL(/\/models$/);
  await item.getByRole('button', { name: /^Cancel/ }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel download' }).click();
  await expect(item).toHaveCount(0);
});

test('a gated repository, a missing and an existing path; a file of the operator is never deleted', async ({
  page,
  watch,
}) => {
  watch.allow(/status of (403|422) .*\/api\/models\/(pull|register)$/);
  await page.goto(`${daemon().url}/models?show=pull&of=maker%2FGated-GGUF`);
  await sheet(page, 'Download maker/Gated-GGUF').getByRole('button', { name: 'Download' }).click();
  await expect(page.getByRole('alert')).toContainText('HF_TOKEN');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Add from disk…' }).click();
  const form = sheet(page, 'Add a model from disk');
  const path = join(daemon().home, 'mine.gguf');
  await form.getByLabel('Path on the gateway machine').fill(path);
  await page.keyboard.press('Enter');
  await expect(form.getByRole('alert')).toContainText(/^The file does not exist\./);
  await expect(form.getByRole('alert')).not.toContainText('path:');
  await expect(form.getByLabel('Path on the gateway machine')).toHaveValue(path);
  await test.step('any path that cannot be used says why', async () => {
    for (const [typed, reason] of [
      ['', 'Enter the path of a model.'],
      ['models/mine.gguf', 'The path must be an absolute path, such as /srv/models/model.gguf.'],
      ['~/models/none.gguf', 'The file does not exist.'],
      [daemon().home, 'It is a folder; give the path of a .gguf file in it.'],
      ['/etc/hostname', 'It is not a GGUF file.'],
    ] as const) {
      await form.getByLabel('Path on the gateway machine').fill(typed);
      await form.getByRole('button', { name: 'Add model' }).click();
      await expect(form.getByLabel('Path on the gateway machine')).toHaveAccessibleDescription(reason);
    }
    await form.getByLabel('Path on the gateway machine').fill(path);
  });
  await inspect(page, 'models-register', TWO_LAYOUTS.slice(1));
  writeFileSync(path, encodeGguf(tinyEmbed()));
  await page.keyboard.press('Tab');
  await form.getByRole('button', { name: 'Add model' }).click();
  await sheet(page, 'mine').getByRole('button', { name: 'Remove model…' }).click();
  const remove = page.getByRole('alertdialog', { name: 'Remove mine?' });
  await expect(remove).toContainText('Its file stays where it is');
  await remove.getByRole('button', { name: 'Remove model' }).click();
  await expect(installed(page, 'mine')).toHaveCount(0);
  await page.goto(`${daemon().url}/models?show=remove&of=blue-model`);
  await expect(page.getByRole('alertdialog', { name: 'blue-model can’t be removed here' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Rescan folders' }).click();
  await expect(page.getByText(/models found/)).toBeVisible();
  await page.route('**/api/models', (route) => route.fulfill({ json: { models: [] } }));
  await page.reload();
  await expect(page.getByText('No models yet')).toBeVisible();
  await inspect(page, 'models-empty', TWO_LAYOUTS.slice(1));
});

test('every unusable file is explained, with what to do', async ({ page }) => {
  const models = join(daemon().home, 'state', 'models', 'unusable');
  const examples = possibleExamples();
  for (const [, example] of examples) writeUnusable(models, example);
  await page.goto(`${daemon().url}/models`);
  await page.getByRole('button', { name: 'Rescan folders' }).click();
  const scanned = page.getByRole('status').filter({ hasText: 'Not usable:' });
  const unusable = page.getByRole('region', { name: 'Not usable' });
  for (const [id, { file, reason }] of examples) {
    for (const list of [scanned, unusable]) {
      const item = list.getByRole('listitem').filter({ has: page.getByText(file, { exact: true }) });
      await expect(item, id).toHaveText(reason);
      // The reason is a separate sentence. Another one says what to do.
      await expect(item, id).toHaveText(/: .+\. [A-Z].+\.$/);
    }
  }
  await inspect(page, 'models-unusable', ALL_LAYOUTS);
  await page.goto(`${daemon().url}/models?show=details&of=glm5`);
  await expect(sheet(page, 'glm5')).toContainText(
    /Not usable: .* the architecture glm5_next\.Update the gateway/,
  );
  rmSync(models, { recursive: true });
  await send(daemon(), 'POST', '/api/models/scan');
  await page.goto(`${daemon().url}/models`);
  await expect(unusable).toHaveCount(0);
});

test('a voice that is put into a model folder is listed with its language and played', async ({ page }) => {
  const models = join(daemon().home, 'state', 'models');
  writeToneVoice(join(models, 'tone'));
  await page.goto(`${daemon().url}/models`);
  await page.getByRole('button', { name: 'Rescan folders' }).click();
  await expect(installed(page, 'tone')).toBeVisible();
  await page.goto(`${daemon().url}/models?show=details&of=tone`);
  const voices = sheet(page, 'tone').getByRole('region', { name: 'Voices' });
  await expect(voices.getByRole('listitem')).toHaveText(/default/);
  const answer = page.waitForResponse((response) => response.url().endsWith('/v1/audio/speech'));
  await voices.getByRole('button', { name: 'Play sample of voice default' }).click();
  const spoken = await answer;
  expect([spoken.status(), spoken.headers()['content-type']]).toEqual([200, 'audio/wav']);
  await expect(voices.getByRole('button', { name: 'Play sample of voice default' })).toBeEnabled();
  await expect(voices.getByRole('alert')).toHaveCount(0);
  await inspect(page, 'models-voices', TWO_LAYOUTS);
});
