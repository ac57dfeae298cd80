import { expect, test } from 'vitest';
import { type CuratedModel, curatedModel } from './curated.ts';
import { chooseWeights, type ListInstalled } from './weights.ts';

const flux = curatedModel('flux-dev') as CuratedModel;
const sdxl = curatedModel('sdxl') as CuratedModel;
const has =
  (lists: Partial<Record<Parameters<ListInstalled>[0], readonly string[] | null>>): ListInstalled =>
  async (kind) =>
    lists[kind] ?? null;

test('finds a file in any folder, ignoring case', async () => {
  const installed = has({ checkpoint: ['a.ckpt', 'SDXL\\SD_XL_base_1.0.safetensors'] });
  expect(await chooseWeights(sdxl, installed)).toEqual({
    by: 'checkpoint',
    checkpoint: 'SDXL\\SD_XL_base_1.0.safetensors',
  });
});

test('prefers the complete model to its parts, which must all exist', async () => {
  const parts = {
    unet: ['flux1-dev.safetensors'],
    t5: ['x', 't5xxl_fp16.safetensors'],
    clip: ['clip_l.safetensors'],
    vae: ['ae.safetensors'],
  };
  expect(await chooseWeights(flux, has({ checkpoint: ['flux1-dev-fp8.safetensors'], ...parts }))).toEqual({
    by: 'checkpoint',
    checkpoint: 'flux1-dev-fp8.safetensors',
  });
  expect(await chooseWeights(flux, has({ checkpoint: [], ...parts }))).toEqual({
    by: 'split',
    unet: 'flux1-dev.safetensors',
    t5: 't5xxl_fp16.safetensors',
    clip: 'clip_l.safetensors',
    vae: 'ae.safetensors',
  });
  expect(await chooseWeights(flux, has({ checkpoint: [], ...parts, vae: [] }))).toBeNull();
  expect(await chooseWeights(sdxl, has({ checkpoint: [] }))).toBeNull();
});

test('uses the first name when the engine reports none', async () => {
  const weights = await chooseWeights(sdxl, async () => null);
  expect(weights).toEqual({ by: 'checkpoint', checkpoint: sdxl.checkpoints[0] });
});
