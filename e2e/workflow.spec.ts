import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright/test';
import { type ComfyStandIn, comfyStandIn } from '../daemon/test/harness/comfy-stand-in.ts';
import { startGateway } from '../daemon/test/harness/gateway.ts';
import { inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const NODE = {
  sampler: {
    class_type: 'KSampler',
    inputs: {
      ...{ seed: 1, steps: 3, cfg: 8, sampler_name: 'dpmpp_2m', scheduler: 'karras', denoise: 1 },
      ...{ model: ['4', 0], positive: ['6', 0], negative: ['7', 0], latent_image: ['5', 0] },
    },
  },
  text: (text: string) => ({ class_type: 'CLIPTextEncode', inputs: { text, clip: ['4', 1] } }),
};
const WORKFLOW = {
  '3': NODE.sampler,
  '4': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'dreamshaper_8.safetensors' } },
  '5': { class_type: 'EmptyLatentImage', inputs: { width: 64, height: 64, batch_size: 1 } },
  '6': { ...NODE.text('x'), _meta: { title: 'What to draw' } },
  '7': NODE.text('blurry'),
  '8': { class_type: 'VAEDecode', inputs: { samples: ['3', 0], vae: ['4', 2] } },
  '30': { class_type: 'SaveImage', inputs: { filename_prefix: 'ComfyUI', images: ['8', 0] } },
};

/** A STAND-IN draws: ComfyUI needs a GPU. */
let comfy: ComfyStandIn;
const daemon = daemonOf(async () => {
  comfy = await comfyStandIn();
  const slot = `type = "image"\nengine = "comfyui"\nrunner = "attach"\nurl = "${comfy.url}"\nautoload = false\n`;
  return startGateway({
    files: {
      'config/slots/agent.toml': 'enabled = false\n',
      'config/slots/img.toml': slot,
      'config/slots/dream.toml': `${slot}checkpoint = "dreamshaper_8.safetensors"\n`,
    },
  });
});
test.afterAll(() => comfy?.stop());

const json = (name: string, value: unknown) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});
const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Workflow of slot img' });
async function choose(page: Page, file: ReturnType<typeof json>): Promise<void> {
  await dialogOf(page).getByLabel('Workflow file').setInputFiles(file);
}

test('a workflow is imported, its inputs are proposed, and a test image is drawn', async ({ page }) => {
  await page.goto(`${daemon().url}/slots`);
  await page.getByRole('button', { name: 'More actions for slot img' }).click();
  await page.getByRole('menuitem', { name: 'Workflow…' }).click();
  const dialog = dialogOf(page);
  await choose(page, json('my workflow (2).json', WORKFLOW));
  await expect(dialog.getByLabel('Name beside the slot file')).toHaveValue('my workflow _2_.json');
  await expect(dialog.getByLabel('Prompt', { exact: true })).toHaveValue('6.text');
  await expect(dialog.getByLabel('Negative prompt')).toHaveValue('7.text');
  await expect(dialog.getByLabel('Seed')).toHaveValue('3.seed');
  await expect(dialog.getByLabel('Width')).toHaveValue('5.width');
  await inspect(page, 'slots-workflow', TWO_LAYOUTS);
  await dialog.getByLabel('Steps').selectOption('');
  await dialog.getByRole('button', { name: 'Save workflow' }).click();
  await expect(dialog.getByRole('status')).toContainText('Saved.');
  await dialog.getByLabel('Prompt of the test image').fill('a red kite');
  await dialog.getByRole('button', { name: 'Draw test image' }).click();
  await expect(dialog.getByRole('img', { name: 'a red kite' })).toBeVisible();
  expect([...comfy.accepted.values()].at(-1)?.['6']?.inputs.text).toBe('a red kite');
  await inspect(page, 'slots-workflow-drawn', TWO_LAYOUTS);
});

test('a missing node and a missing file are named as ComfyUI names them', async ({ page, watch }) => {
  watch.allow(/status of (502|404) .*\/v1\/images\/generations$/);
  await page.goto(`${daemon().url}/slots?slot=img&show=workflow`);
  const dialog = dialogOf(page);
  const draw = async (file: ReturnType<typeof json>) => {
    await choose(page, file);
    await dialog.getByRole('button', { name: 'Save workflow' }).click();
    await expect(dialog.getByRole('status')).toContainText('Saved.');
    await dialog.getByRole('button', { name: 'Draw test image' }).click();
  };
  await draw(json('node.json', { ...WORKFLOW, 40: { class_type: 'UpscaleEverything', inputs: {} } }));
  await expect(dialog.getByText('ComfyUI has no node UpscaleEverything.')).toBeVisible();
  const absent = { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'absent.safetensors' } };
  await draw(json('file.json', { ...WORKFLOW, 4: absent }));
  await expect(dialog.getByText('ckpt_name: absent.safetensors')).toBeVisible();
});

test('the same file can be chosen again after it has changed', async ({ page }) => {
  await page.goto(`${daemon().url}/slots?slot=img&show=workflow`);
  const dialog = dialogOf(page);
  const path = test.info().outputPath('changed.json');
  const pick = async (value: object) => {
    writeFileSync(path, JSON.stringify(value));
    const chooser = page.waitForEvent('filechooser');
    await dialog.getByLabel('Workflow file').click();
    await (await chooser).setFiles(path);
  };
  await pick({ nodes: [], links: [] });
  await expect(dialog.getByRole('alert')).toContainText('Export it again');
  await pick(WORKFLOW);
  await expect(dialog.getByLabel('Prompt', { exact: true })).toHaveValue('6.text');
  await expect(dialog.getByRole('alert')).toHaveCount(0);
});

test('a file that is no workflow is explained, and a used name is not overwritten', async ({
  page,
  watch,
}) => {
  watch.allow(/status of 422 .*\/api\/slots\/img\/workflow$/);
  await page.goto(`${daemon().url}/slots?slot=img&show=workflow`);
  const dialog = dialogOf(page);
  for (const [value, text] of [
    ['{', 'It is not valid JSON.'],
    [{ nodes: [], links: [] }, 'Export it again with Workflow > Export (API).'],
    [{ 1: { class_type: 'X', inputs: { text: 'x'.repeat(1_000_000) } } }, 'It is larger than 900 KiB.'],
  ] as const) {
    await choose(page, json('bad.json', value));
    await expect(dialog.getByRole('alert')).toContainText(text);
    await expect(dialog.getByRole('button', { name: 'Save workflow' })).toHaveCount(0);
  }
  await choose(page, json('bad.json', { 5: WORKFLOW[5] }));
  await expect(dialog.getByRole('alert')).toContainText('No input takes the prompt.');
  await expect(dialog.getByRole('button', { name: 'Save workflow' })).toBeDisabled();
  const save = async (value: object) => {
    await choose(page, json('taken.json', value));
    await dialog.getByRole('button', { name: 'Save workflow' }).click();
  };
  await save(WORKFLOW);
  await expect(dialog.getByRole('status')).toContainText('Saved.');
  await save({ ...WORKFLOW, 7: NODE.text('ugly') });
  await expect(dialog.getByText('exists already')).toBeVisible();
  await dialog.getByLabel('Replace a file of this name').check();
  await dialog.getByRole('button', { name: 'Save workflow' }).click();
  await expect(dialog.getByRole('status')).toContainText('Saved.');
});

test('an own checkpoint is chosen and drawn', async ({ page }) => {
  await page.goto(`${daemon().url}/playground/image`);
  await page.getByRole('combobox', { name: 'Model' }).click();
  await page
    .getByRole('option', { name: /dreamshaper_8\.safetensors/ })
    .first()
    .click();
  await page.getByRole('textbox', { name: 'Prompt' }).fill('an owl');
  await page.getByRole('button', { name: 'Generate image', exact: true }).click();
  const image = page.getByRole('region', { name: 'Image', exact: true });
  await expect(image.getByRole('img', { name: 'an owl (1 of 1)' })).toBeVisible();
  await expect(image).toContainText('dreamshaper_8.safetensors');
});
