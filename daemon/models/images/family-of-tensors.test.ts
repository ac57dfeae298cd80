import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { familyByName, type ImageFamily, variantOf } from './families.ts';
import { familyOfFile, familyOfMetadata, familyOfTensors } from './family-of-tensors.ts';

/** Tensors by which ComfyUI's `model_detection.py` recognises each family. */
const TENSORS: readonly (readonly [ImageFamily | null, Record<string, number[]>])[] = [
  ['sd15', { 'input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight': [320, 768] }],
  [null, { 'input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight': [320, 1024] }],
  ['sdxl', { 'label_emb.0.0.weight': [1280, 2816], 'input_blocks.0.0.weight': [320, 4, 3, 3] }],
  ['sd35', { 'joint_blocks.0.context_block.attn.qkv.weight': [7296, 2432] }],
  ['flux-schnell', { 'double_blocks.0.img_attn.qkv.weight': [9216, 3072] }],
  [
    'flux-dev',
    { 'double_blocks.0.img_attn.qkv.weight': [9216, 3072], 'guidance_in.in_layer.weight': [3072, 256] },
  ],
  [
    'flux2',
    { 'double_stream_modulation_img.lin.weight': [1, 1], 'double_blocks.0.img_attn.qkv.weight': [1, 1] },
  ],
  ['qwen-image', { 'transformer_blocks.0.attn.add_q_proj.weight': [1, 1], 'txt_norm.weight': [3584] }],
  ['z-image', { 'cap_embedder.1.weight': [3840, 2560], 'noise_refiner.0.attention.k_norm.weight': [128] }],
  [null, { 'cap_embedder.1.weight': [2304, 2304], 'noise_refiner.0.attention.k_norm.weight': [128] }],
  [null, { 'model.embed_tokens.weight': [1, 1] }],
];

test.each(TENSORS)('%s', (family, tensors) => {
  expect(familyOfTensors(Object.entries(tensors))).toBe(family);
  const prefixed = Object.entries(tensors).map(
    ([name, shape]) => [`model.diffusion_model.${name}`, shape] as const,
  );
  expect(familyOfTensors(prefixed)).toBe(family);
});

test.each([
  ['modelspec.architecture', 'stable-diffusion-xl-v1-base', 'sdxl'],
  ['modelspec.architecture', 'stable-diffusion-v1', 'sd15'],
  ['modelspec.architecture', 'flux-1-dev', 'flux-dev'],
  ['ss_base_model_version', 'sd_v1', 'sd15'],
  ['ss_base_model_version', 'sdxl_base_v1-0', 'sdxl'],
  ['general.architecture', 'qwen_image', 'qwen-image'],
  ['general.architecture', 'llama', null],
])('%s = %s is %s', (key, value, family) => {
  expect(familyOfMetadata({ [key]: value })).toBe(family);
});

test.each([
  ['ponyDiffusionV6XL.safetensors', 'sdxl'],
  ['sd3.5_medium.safetensors', 'sd35'],
  ['flux2_dev_fp8mixed.safetensors', 'flux2'],
  ['qwen_image_2512_bf16.safetensors', 'qwen-image'],
  ['z_image_turbo_bf16.safetensors', 'z-image-turbo'],
  ['z_image_bf16.safetensors', 'z-image'],
  ['dreamshaper_8.safetensors', null],
])('the name %s suggests %s', (name, family) => {
  expect(familyByName(name)).toBe(family);
});

test('a declared family takes the variant that the name suggests', () => {
  expect(variantOf('flux', 'my-flux-schnell.safetensors')).toBe('flux-schnell');
  expect(variantOf('flux', 'mine.safetensors')).toBe('flux-dev');
  expect(variantOf('z-image', 'z_image_turbo.safetensors')).toBe('z-image-turbo');
  expect(variantOf('sd15', 'ponyXL.safetensors')).toBe('sd15');
});

test('reads the header of a safetensors file; other and damaged files have no family', async () => {
  const file = (name: string, bytes: Buffer) => {
    const path = join(scratch(), name);
    writeFileSync(path, bytes);
    return path;
  };
  const header = Buffer.from(
    JSON.stringify({ __metadata__: {}, 'label_emb.0.0.weight': { dtype: 'F16', shape: [1, 1] } }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const good = Buffer.concat([length, header]);
  expect(await familyOfFile(file('a.safetensors', good))).toBe('sdxl');
  expect(await familyOfFile(file('cut.safetensors', good.subarray(0, 40)))).toBeNull();
  expect(await familyOfFile(file('noise.safetensors', Buffer.alloc(100, 255)))).toBeNull();
  expect(await familyOfFile(file('b.ckpt', good))).toBeNull();
  expect(await familyOfFile(file('c.gguf', good))).toBeNull();
  expect(await familyOfFile(join(scratch(), 'absent.safetensors'))).toBeNull();
});
