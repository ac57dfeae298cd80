import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { ComfyClient } from './comfy-client.ts';
import { installedModels, modelsFolder } from './installed-models.ts';
import { LOADER_INPUTS } from './weights.ts';

const LOCAL = 'http://127.0.0.1:8188';

interface Engine {
  /** The files that each kind of loader lists; a loader that is absent is no node of the engine. */
  readonly files?: Partial<Record<keyof typeof LOADER_INPUTS, readonly string[]>>;
  readonly argv?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A client of an engine with these files, and the paths of its requests. */
function clientOf({ files = {}, argv, metadata = {} }: Engine) {
  const paths: string[] = [];
  const answers: Record<string, unknown> = { '/system_stats': { system: { argv } } };
  for (const [kind, [node, input]] of Object.entries(LOADER_INPUTS)) {
    const list = files[kind as keyof typeof LOADER_INPUTS];
    if (list !== undefined)
      answers[`/object_info/${node}`] = { [node]: { input: { required: { [input]: [list] } } } };
  }
  for (const [file, value] of Object.entries(metadata)) answers[`/view_metadata/${file}`] = value;
  const client = new ComfyClient(async ({ path }) => {
    paths.push(path);
    const answer = answers[path.replace('?filename=', '/')];
    return { status: answer === undefined ? 404 : 200, bytes: Buffer.alloc(0), json: () => answer };
  });
  return { client, paths };
}

async function modelsOf(engine: Engine, origin = LOCAL) {
  const { client } = clientOf(engine);
  const found = await installedModels(client, origin, new AbortController().signal);
  return found.map(({ id, family, familySource }) => [id, family, familySource ?? 'built in']);
}

test.each([
  ['a base folder', LOCAL, ['/opt/main.py', '--base-directory', '/data'], '/data/models'],
  ['the folder of the program', LOCAL, ['/opt/comfy/main.py', '--listen'], '/opt/comfy/models'],
  ['a host name of this machine', 'http://localhost:8188', ['/opt/main.py'], '/opt/models'],
  ['the loopback address of IPv6', 'http://[::1]:8188', ['/opt/main.py'], '/opt/models'],
  ['a relative program', LOCAL, ['main.py'], null],
  ['a relative base folder', LOCAL, ['/opt/main.py', '--base-directory', 'data'], null],
  ['a base folder without a value', LOCAL, ['/opt/main.py', '--base-directory'], null],
  ['no arguments', LOCAL, [], null],
  ['another machine', 'http://192.0.2.9:8188', ['/opt/main.py'], null],
])('the folder of the models with %s', (_, origin, argv, expected) => {
  expect(modelsFolder(origin, argv)).toBe(expected);
});

test('an engine without files draws nothing', async () => {
  expect(await modelsOf({ files: { checkpoint: [], diffusionModel: [], gguf: [] } })).toEqual([]);
});

test('built-in models come first, by any of their files; each file counts once', async () => {
  const checkpoint = ['dreams_xl.safetensors', 'SDXL/sd_xl_base_1.0.safetensors', 'notes.txt'];
  expect(await modelsOf({ files: { checkpoint, diffusionModel: [] } })).toEqual([
    ['sdxl', 'sdxl', 'built in'],
    ['dreams_xl.safetensors', 'sdxl', 'name'],
  ]);
});

test('the family of a file is that of its header, then its metadata, then its name', async () => {
  const base = scratch();
  const folder = join(base, 'models', 'checkpoints');
  mkdirSync(folder, { recursive: true });
  const header = Buffer.from(
    JSON.stringify({ 'label_emb.0.0.weight': { dtype: 'F16', shape: [1], data_offsets: [0, 2] } }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  for (const name of ['a_sd15', 'sdxl_turbo_mix'])
    writeFileSync(join(folder, `${name}.safetensors`), Buffer.concat([length, header, Buffer.alloc(2)]));
  const engine = {
    files: {
      checkpoint: ['a_sd15.safetensors', 'b.safetensors', 'c.safetensors', 'sdxl_turbo_mix.safetensors'],
      diffusionModel: [],
    },
    argv: ['/opt/main.py', '--base-directory', base, 3],
    metadata: {
      'checkpoints/a_sd15.safetensors': { ss_base_model_version: 'sd_v1' },
      'checkpoints/b.safetensors': { 'modelspec.architecture': 'stable-diffusion-xl-v1-base' },
    },
  };
  expect(await modelsOf(engine)).toEqual([
    ['a_sd15.safetensors', 'sdxl', 'header'],
    ['b.safetensors', 'sdxl', 'metadata'],
    ['c.safetensors', 'sd15', 'assumed'],
    ['sdxl_turbo_mix.safetensors', 'sdxl-turbo', 'header'],
  ]);
  expect((await modelsOf(engine, 'http://192.0.2.9:8188'))[0]).toEqual([
    ...['a_sd15.safetensors', 'sd15', 'metadata'],
  ]);
});

test('a diffusion model needs a known family and its other files', async () => {
  const diffusionModel = ['my-flux-dev.safetensors', 'unknown.safetensors'];
  const gguf = ['flux1-schnell-Q4.gguf', 'x.gguf'];
  const parts = {
    encoder: ['t5xxl_fp16.safetensors', 'clip_l.safetensors'],
    vae: ['ae.safetensors'],
  };
  const files = { checkpoint: [], diffusionModel, gguf, ...parts };
  const metadata = { 'diffusion_models/x.gguf': { 'general.architecture': 'flux' } };
  const found = await modelsOf({ files, metadata });
  expect(found).toContainEqual(['my-flux-dev.safetensors', 'flux-dev', 'name']);
  expect(found).toContainEqual(['flux1-schnell-Q4.gguf', 'flux-schnell', 'name']);
  expect(found.find(([id]) => id === 'x.gguf')?.[2]).toBe('metadata');
  expect(found.some(([id]) => id === 'unknown.safetensors')).toBe(false);
  expect(await modelsOf({ files: { ...files, encoder: [] }, metadata })).toEqual([]);
});

test('each list is read once', async () => {
  const { client, paths } = clientOf({ files: { checkpoint: [], diffusionModel: [] } });
  await installedModels(client, LOCAL, new AbortController().signal);
  expect(new Set(paths).size).toBe(paths.length);
});
