import { expect, test } from 'vitest';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import { modelOfFile } from './own-model.ts';
import { chooseWeights, type ListInstalled } from './weights.ts';

const flux = curatedModel('flux-dev') as ImageModel;
const sdxl = curatedModel('sdxl') as ImageModel;
const has =
  (lists: Partial<Record<Parameters<ListInstalled>[0], readonly string[] | null>>): ListInstalled =>
  async (kind) =>
    lists[kind] ?? null;

test('finds a file in any folder, ignoring case', async () => {
  const installed = has({ checkpoint: ['a.ckpt', 'SDXL\\SD_XL_base_1.0.safetensors'] });
  expect(await chooseWeights(sdxl, installed)).toEqual({
    by: 'checkpoint',
    file: 'SDXL\\SD_XL_base_1.0.safetensors',
    encoders: null,
    vae: null,
  });
});

test('prefers the complete model to its parts, which must all exist', async () => {
  const parts = {
    diffusionModel: ['flux1-dev.safetensors'],
    encoder: ['x', 'text/t5xxl_Q8.safetensors', 'clip_l.safetensors'],
    vae: ['ae.safetensors'],
  };
  expect(await chooseWeights(flux, has({ checkpoint: ['flux1-dev-fp8.safetensors'], ...parts }))).toEqual({
    by: 'checkpoint',
    file: 'flux1-dev-fp8.safetensors',
    encoders: null,
    vae: null,
  });
  expect(await chooseWeights(flux, has({ checkpoint: [], ...parts }))).toEqual({
    by: 'diffusion-model',
    file: 'flux1-dev.safetensors',
    encoders: { clip_name1: 'text/t5xxl_Q8.safetensors', clip_name2: 'clip_l.safetensors' },
    vae: 'ae.safetensors',
  });
  expect(await chooseWeights(flux, has({ checkpoint: [], ...parts, vae: [] }))).toBeNull();
  expect(await chooseWeights(sdxl, has({ checkpoint: [] }))).toBeNull();
});

test('uses the first name when the engine reports none', async () => {
  const weights = await chooseWeights(sdxl, async () => null);
  expect(weights).toEqual({ by: 'checkpoint', file: sdxl.checkpoints[0], encoders: null, vae: null });
});

test('a checkpoint of SD 3.5 uses the text encoders in its folder, if all are installed', async () => {
  const sd35 = curatedModel('sd35') as ImageModel;
  const checkpoint = ['sd3.5_large.safetensors'];
  const encoder = ['clip_l.safetensors', 'clip_g.safetensors', 't5xxl_fp16.safetensors'];
  expect((await chooseWeights(sd35, has({ checkpoint, encoder })))?.encoders).toEqual({
    clip_name1: 'clip_l.safetensors',
    clip_name2: 'clip_g.safetensors',
    clip_name3: 't5xxl_fp16.safetensors',
  });
  expect(
    (await chooseWeights(sd35, has({ checkpoint, encoder: ['clip_l.safetensors'] })))?.encoders,
  ).toBeNull();
});

test('finds a quantised diffusion model of the GGUF loader', async () => {
  const model = modelOfFile('z-image-turbo-Q4.gguf', {
    family: 'z-image-turbo',
    source: 'name',
    isDiffusionModel: true,
  });
  const lists = { diffusionModel: [], gguf: ['z-image-turbo-Q4.gguf'], vae: ['ae.safetensors'] };
  expect((await chooseWeights(model, has({ ...lists, encoder: ['qwen_3_4b.safetensors'] })))?.file).toBe(
    'z-image-turbo-Q4.gguf',
  );
});
