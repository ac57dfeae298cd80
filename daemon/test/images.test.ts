/**
 * docs/spec/specification.md#images over a real port: the official client, the content of a response, and
 * what is rejected before an engine is called. ComfyUI and stable-diffusion.cpp are STAND-INS (they need a GPU
 * and gigabytes of weights); the images they draw are real PNGs.
 */
import { NotFoundError, UnprocessableEntityError } from 'openai';
import { describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../contract/models.ts';
import { imageFormat } from '../lib/media/image-format.ts';
import { readPng } from '../lib/media/png.ts';
import { failure } from './harness/failure.ts';
import { until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { IMAGES, ImageGateway, SMALL } from './harness/image-gateway.ts';
import { openaiClient } from './harness/openai.ts';

const gateway = new ImageGateway();
const { post, draw, drawError, storedCount } = gateway;
const client = () => openaiClient(gateway);

describe('the official client', () => {
  it('gets a relative url of a PNG of the requested size', async () => {
    const result = await client().images.generate({ ...SMALL, size: '512x512' });
    const [url] = (result.data ?? []).map((each) => each.url);
    expect(url).toMatch(/^\/api\/images\/cache\/[0-9a-f-]{36}\.png$/);
    const response = await gateway.fetchBytes(url as string);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    const png = readPng(Buffer.from(await response.arrayBuffer()), 4096);
    expect([png.width, png.height]).toEqual([512, 512]);
  });

  it('gets base64 on request, and nothing is stored', async () => {
    const before = storedCount();
    const result = await client().images.generate({
      ...SMALL,
      n: 2,
      response_format: 'b64_json',
      size: '256x256',
    });
    const bytes = (result.data ?? []).map((each) => Buffer.from(each.b64_json as string, 'base64'));
    expect(bytes.map((each) => readPng(each, 4096).width)).toEqual([256, 256]);
    expect(bytes[0]?.equals(bytes[1] as Buffer)).toBe(false);
    expect(storedCount()).toBe(before);
  });

  it('throws its own error classes', async () => {
    const blank = await failure(
      client().images.generate({ ...SMALL, prompt: ' ' }),
      UnprocessableEntityError,
    );
    expect(blank.code).toBe('image.prompt_required');
    const unknown = await failure(client().images.generate({ ...SMALL, model: 'dall-e-3' }), NotFoundError);
    expect(unknown.code).toBe('image.model_not_curated');
  });
});

it('the list names the models of the loaded engine, with show_all only', async () => {
  const listImageModels = async (query: string) => {
    const response = await send(gateway, 'GET', `/v1/models${query}`);
    return response
      .json<{ data: V1ModelRecord[] }>()
      .data.filter(({ capabilities }) => capabilities.image_generation);
  };
  await until(
    async () => (await listImageModels('?show_all=true')).some(({ id }) => id === 'sdxl'),
    'the files to be listed',
  );
  const all = await listImageModels('?show_all=true');
  const owners = Object.fromEntries(all.map(({ id, owned_by, _svc }) => [id, [owned_by, _svc.slot]]));
  expect(owners).toMatchObject({ sdxl: ['svc', 'img'], 'sdxl-turbo': ['svc', 'img'], sd15: ['svc', 'cpp'] });
  expect((await listImageModels('')).map(({ id }) => id)).toEqual([]);
  expect((await send(gateway, 'GET', '/v1/models/sdxl')).json()).toMatchObject({
    id: 'sdxl',
    owned_by: 'svc',
  });
});

describe('the response', () => {
  it('names seed, model, job and slot; the same seed draws the same image', async () => {
    const request = {
      extra_body: { seed: 7, steps: 3, cfg: 5, negative_prompt: 'dogs' },
      response_format: 'b64_json',
    };
    const [first, again, other] = [
      await draw(request),
      await draw(request),
      await draw({ ...request, extra_body: {}, seed: 8 }),
    ];
    expect(first._svc).toMatchObject({
      model: 'sdxl',
      upstream: 'img',
      meta: { seed: 7, steps: 3, cfg: 5, width: 64, height: 64, sampler: 'euler', family: 'sdxl' },
    });
    expect(gateway.comfy.accepted.has(first._svc.prompt_id)).toBe(true);
    expect(again.data).toEqual(first.data);
    expect(other._svc.meta.seed).toBe(8);
    expect(other.data).not.toEqual(first.data);
  });

  it('contains no metadata of the engine', async () => {
    const { data } = await draw({ response_format: 'b64_json' });
    const bytes = Buffer.from(data[0]?.b64_json ?? '', 'base64').toString('latin1');
    expect(bytes).toContain('IDAT');
    for (const word of ['tEXt', 'safetensors', 'a cat', '/home']) expect(bytes).not.toContain(word);
  });

  it.each(['sdxl', 'sdxl-base', 'sd_xl_base_1.0.safetensors', 'sdxl-turbo', 'flux-schnell', 'flux'])(
    '%s is drawn with the installed files',
    async (model) => {
      const image = await draw({ model, extra_body: { cfg: 2, negative_prompt: 'dogs' } });
      const expected = model.startsWith('flux') ? ['cfg', 'negative_prompt'] : undefined;
      expect(image._svc.meta.ignored).toEqual(expected);
    },
  );

  it('the name or virtual name of a slot selects its model', async () => {
    for (const model of ['img', 'svc/img']) expect((await draw({ model }))._svc.model).toBe('sdxl-turbo');
    expect(await drawError('a cat', { model: 'bare' })).toMatchObject({ code: 'image.model_not_curated' });
    expect(await drawError('a cat', { model: 'agent' })).toMatchObject({ code: 'image.model_not_curated' });
  });

  it('a job whose id an old engine chose is tracked by that id', async () => {
    gateway.comfy.acceptsIds = false;
    const image = await draw({ prompt: 'SLOW cat', steps: 2 });
    gateway.comfy.acceptsIds = true;
    expect(gateway.comfy.accepted.has(image._svc.prompt_id)).toBe(true);
  });

  it('deletes the prompt from the history of the engine', async () => {
    const { _svc } = await draw({});
    expect(gateway.comfy.requests).toContain(`POST /history ${JSON.stringify({ delete: [_svc.prompt_id] })}`);
  });
});

describe('checkpoints of the owner', () => {
  const listed = async () =>
    (await send(gateway, 'GET', '/v1/models?show_all=1'))
      .json<{ data: V1ModelRecord[] }>()
      .data.map(({ id }) => id);
  const promptOf = (image: { _svc: { prompt_id: string } }) =>
    Object.values(gateway.comfy.accepted.get(image._svc.prompt_id) ?? {}).map(({ class_type, inputs }) => ({
      class_type,
      ...inputs,
    }));

  it('every checkpoint that ComfyUI lists is listed and drawn, by its name with or without folder', async () => {
    await draw({});
    await until(
      async () => (await listed()).includes('anime/ponyRealism.safetensors'),
      'the files to be listed',
    );
    expect(await listed()).toEqual(expect.arrayContaining(['dreamshaper_8.safetensors', 'sdxl', 'flux-dev']));
    expect(await listed()).not.toContain('bare');
    for (const model of ['anime/ponyRealism.safetensors', 'ponyRealism.safetensors', 'ponyRealism']) {
      const image = await draw({ model });
      expect(image._svc.meta).toMatchObject({ family: 'sdxl', licence: 'unknown' });
      expect(promptOf(image)).toContainEqual(
        expect.objectContaining({ ckpt_name: 'anime/ponyRealism.safetensors' }),
      );
    }
  });

  it('a slot file adds LoRAs, decoder and defaults, which a request overrides', async () => {
    const image = await draw({ model: 'dream', seed: 1 });
    expect(image._svc).toMatchObject({
      upstream: 'dream',
      model: 'dreamshaper_8.safetensors',
      meta: { steps: 3, cfg: 5, sampler: 'dpmpp_2m', family: 'sd15' },
    });
    expect(promptOf(image)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          class_type: 'LoraLoader',
          lora_name: 'detail.safetensors',
          strength_model: 1,
        }),
        expect.objectContaining({ class_type: 'VAELoader', vae_name: 'ae.safetensors' }),
        expect.objectContaining({ class_type: 'CLIPSetLastLayer', stop_at_clip_layer: -2 }),
        expect.objectContaining({ class_type: 'KSampler', scheduler: 'karras' }),
        expect.objectContaining({ class_type: 'CLIPTextEncode', text: 'blurry' }),
      ]),
    );
    const other = await draw({ model: 'dream', extra_body: { steps: 4, negative_prompt: 'dogs' } });
    expect(other._svc.meta.steps).toBe(4);
    expect(JSON.stringify(promptOf(other))).not.toContain('blurry');
  });

  it('a slot file sets the family', async () => {
    const image = await draw({ model: 'pony' });
    expect(image._svc.meta).toMatchObject({ family: 'sdxl', family_source: 'slot' });
  });

  it('a file that is absent is named', async () => {
    const error = await drawError('a cat', { model: 'absent.safetensors' });
    expect(error).toMatchObject({ status: 404, code: 'image.model_not_curated' });
    expect(error.details).toMatchObject({ models: expect.arrayContaining(['sdxl-turbo', 'flux-dev']) });
    const { installed } = gateway.comfy;
    gateway.comfy.installed = { ...installed, loras: [] };
    const lora = await drawError('a cat', { model: 'dream' });
    gateway.comfy.installed = installed;
    expect(lora).toMatchObject({
      status: 404,
      message: expect.stringContaining('lora_name: detail.safetensors'),
    });
  });
});

describe('a stream', () => {
  const events = async (body: object): Promise<Record<string, unknown>[]> => {
    const response = await post({ ...SMALL, stream: true, ...body });
    expect(response.headers['content-type']).toBe('text/event-stream');
    return [...response.text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, name, data]) => ({
      name,
      ...(JSON.parse(data as string) as Record<string, unknown>),
    }));
  };

  it('has one completed event for each image', async () => {
    const received = await events({ n: 2, response_format: 'url' });
    expect(received.map(({ name }) => name)).toEqual([
      'image_generation.completed',
      'image_generation.completed',
    ]);
    const [first] = received;
    expect(first).toMatchObject({
      type: 'image_generation.completed',
      size: '64x64',
      output_format: 'png',
      quality: 'auto',
    });
    expect(readPng(Buffer.from(String(first?.b64_json), 'base64'), 4096).width).toBe(64);
    expect(first).not.toHaveProperty('usage');
  });

  it('has as many previews as requested', async () => {
    const received = await events({ partial_images: 2, prompt: 'SLOW', steps: 6 });
    expect(received.map(({ name, partial_image_index: at }) => [name, at])).toEqual([
      ['image_generation.partial_image', 0],
      ['image_generation.partial_image', 1],
      ['image_generation.completed', undefined],
    ]);
    expect(received[0]).toMatchObject({ output_format: 'jpeg', b64_json: '/9j/4AAQ' });
  });

  it('is read by the official client', async () => {
    const stream = await client().images.generate({ ...SMALL, stream: true, partial_images: 1 });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe('image_generation.completed');
  });

  it('fails before its first event with a status', async () => {
    const response = await post({ ...SMALL, stream: true, prompt: 'FAIL' });
    expect([response.status, response.code]).toEqual([502, 'upstream.error']);
  });
});

it('names settings that no engine follows', async () => {
  const { _svc } = await draw({
    ...{ output_compression: 50, quality: 'high', background: 'transparent', style: 'vivid' },
    ...{ moderation: 'low', user: 'u' },
  });
  expect(_svc.meta.ignored).toEqual(['output_compression', 'quality', 'background', 'style']);
  const followed = await draw({ output_format: 'png', quality: 'auto', background: 'opaque' });
  expect(followed._svc.meta).not.toHaveProperty('ignored');
});

it.each(['jpeg', 'webp'] as const)('output_format %s is returned as data', async (format) => {
  const image = await draw({ output_format: format, output_compression: 80, response_format: 'url', n: 2 });
  expect(image.output_format).toBe(format);
  expect(image._svc.meta).not.toHaveProperty('ignored');
  const formats = image.data.map(
    (row) => 'b64_json' in row && imageFormat(Buffer.from(row.b64_json, 'base64')),
  );
  expect(formats).toEqual([format, format]);
  const response = await post({ ...SMALL, stream: true, output_format: format });
  const data = response.text.split('\n').find((line) => line.startsWith('data: ')) ?? '';
  const event = JSON.parse(data.slice(6)) as { output_format: string; b64_json: string };
  expect([event.output_format, imageFormat(Buffer.from(event.b64_json, 'base64'))]).toEqual([format, format]);
});

it('an image that cannot be converted stays PNG, and the answer says so', async () => {
  const image = await draw({ prompt: 'DAMAGED', output_format: 'webp' });
  expect(image).toMatchObject({ output_format: 'png', _svc: { meta: { ignored: ['output_format'] } } });
  await gateway.waitFor('an image could not be converted');
});

describe('B14 checks', () => {
  it.each<[Record<string, unknown>, string]>([
    [{ n: 9 }, 'n'],
    [{ n: 1e9 }, 'n'],
    [{ n: 1.5 }, 'n'],
    [{ size: '99999x99999' }, 'size'],
    [{ size: '64x65' }, 'size'],
    [{ size: '56x64' }, 'size'],
    [{ response_format: 'jpeg' }, 'response_format'],
    [{ partial_images: 4 }, 'partial_images'],
    [{ output_format: 'gif' }, 'output_format'],
    [{ output_compression: 101 }, 'output_compression'],
    [{ extra_body: { steps: 1e6 } }, 'steps'],
    [{ extra_body: { seed: 'NaN' } }, 'seed'],
    [{ seed: -2 }, 'seed'],
    [{ cfg: 31 }, 'cfg'],
    [{ extra_body: [] }, 'extra_body'],
    [{ prompt: 'x'.repeat(32_001) }, 'prompt'],
    [{ model: 'sdxl-turbo', steps: 11 }, 'steps'],
  ])('a body with a bad $1 (case %#) is rejected before the engine is called', async (body, param) => {
    const before = gateway.comfy.requests.length;
    const response = await post({ ...SMALL, ...body });
    expect([response.status, response.code]).toEqual([422, 'request.invalid']);
    expect(response.json()).toMatchObject({ error: { param } });
    expect(gateway.comfy.requests.slice(before).filter((each) => each.includes('/prompt'))).toEqual([]);
  });

  it('needs a key', async () => {
    expect((await send(gateway, 'POST', IMAGES, { body: SMALL })).status).toBe(401);
  });
});
