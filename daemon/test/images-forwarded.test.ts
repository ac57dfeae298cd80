/**
 * docs/spec/contract.md#upstream-images over a real port: image models of upstreams in the shape of LiteLLM, LocalAI and
 * stable-diffusion.cpp's server (STAND-INS with real PNGs), and a second real gateway.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../contract/models.ts';
import { imageFormat } from '../lib/media/image-format.ts';
import { drawnPng } from './harness/drawn-png.ts';
import { CLIENT_KEY, startLocked } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { type DrawnImages, IMAGES } from './harness/image-gateway.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { type SdStandIn, sdSlot, sdStandIn } from './harness/sd-stand-in.ts';
import { json, type ReceivedRequest, type StandIn, standIn } from './harness/stand-in.ts';
import { breaches } from './openai-schemas/validate.ts';

const PNG = drawnPng({ width: 64, height: 32, seed: 1 });
const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(64)]);
const USAGE = {
  input_tokens: 9,
  output_tokens: 272,
  total_tokens: 281,
  input_tokens_details: { text_tokens: 9, image_tokens: 0 },
};

/** LiteLLM with a provider behind it: base64, a revised prompt, usage, and an error in OpenAI's form. */
function liteLLM({ url, body }: ReceivedRequest) {
  if (url.endsWith('/models'))
    return json(200, { object: 'list', data: [{ id: 'gpt-image-1', object: 'model' }] });
  const request = JSON.parse(body) as Record<string, unknown>;
  if (request.prompt === 'REFUSE')
    return json(400, {
      error: {
        message: 'Your request was rejected by the safety system.',
        type: 'image_generation_user_error',
        code: 'moderation_blocked',
      },
    });
  if (request.prompt === 'EMPTY') return json(200, { created: 1, data: [] });
  if (request.prompt === 'NOISE') return json(200, { created: 1, data: [{ b64_json: 'aGVsbG8=' }] });
  if (request.prompt === 'INTERNAL')
    return json(200, { created: 1, data: [{ url: 'http://127.0.0.1:1/x.png' }] });
  const bytes = request.output_format === 'jpeg' || request.prompt === 'JPEG' ? JPEG : PNG;
  const data = [{ b64_json: bytes.toString('base64'), revised_prompt: 'A cat, in oil' }];
  return json(200, {
    created: 1,
    data,
    size: '1024x1024',
    quality: 'high',
    background: 'opaque',
    usage: USAGE,
    secret: 'x',
  });
}

/**
 * LocalAI: its fields for embeddings and its usage are in every answer, and an image is the address of a file on the same server
 * unless Base64 is requested (core/http/endpoints/openai/image.go and core/schema/openai.go at commit 82c191af, August 2026).
 */
function localAI({ url, headers, body }: ReceivedRequest) {
  if (url.endsWith('/models'))
    return json(200, { object: 'list', data: [{ id: 'stablediffusion', object: 'model' }] });
  if (url === '/generated-images/b64.png')
    return (_req: unknown, res: import('node:http').ServerResponse) => {
      res.writeHead(headers.authorization === 'Bearer local-key-2718' ? 200 : 401);
      res.end(PNG);
    };
  const { n = 1, response_format: form } = JSON.parse(body) as { n?: number; response_format?: string };
  const image =
    form === 'b64_json'
      ? { b64_json: PNG.toString('base64') }
      : { url: `http://${headers.host}/generated-images/b64.png` };
  return json(200, {
    created: 1,
    id: 'f3a1c5de-0000-4000-8000-000000000000',
    data: Array.from({ length: n }, () => ({ embedding: null, index: 0, ...image })),
    usage: {
      ...{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      input_tokens_details: { text_tokens: 0, image_tokens: 0 },
    },
  });
}

let [lite, local]: StandIn[] = [];
let sd: SdStandIn;
beforeAll(async () => {
  [lite, local, sd] = await Promise.all([standIn(liteLLM), standIn(localAI), sdStandIn()]);
});
afterAll(() => Promise.all([lite, local, sd].map((server) => server?.stop())));

/** The second gateway: it draws with its own slot. */
const second = new OneGateway(() =>
  startLocked({
    files: { 'config/slots/img.toml': sdSlot(sd.url), 'config/slots/agent.toml': 'enabled = false\n' },
  }),
);
const gateway = new OneGateway(() => {
  const upstream = (base: string, key: string, more = '') =>
    `base_url = "${base}/v1"\nkey_env = "UPSTREAM_${key}"\n${more}`;
  return startLocked({
    env: {
      UPSTREAM_LITE: 'lite-key-31415926',
      UPSTREAM_LOCAL: 'local-key-2718',
      UPSTREAM_SECOND: CLIENT_KEY,
      UPSTREAM_SD: 'x-key-123456',
    },
    files: {
      'config/slots/agent.toml': 'enabled = false\n',
      'config/upstreams/lite.toml': upstream(lite?.url ?? '', 'LITE'),
      'config/upstreams/local.toml': upstream(local?.url ?? '', 'LOCAL'),
      'config/upstreams/sd.toml': upstream(sd.url, 'SD'),
      'config/upstreams/second.toml': upstream(second.url, 'SECOND', 'kind = "svc"\n'),
    },
  });
});

const post = (body: object) =>
  send(gateway, 'POST', IMAGES, { body: { prompt: 'a cat', ...body }, key: CLIENT_KEY });
async function draw(body: object): Promise<DrawnImages> {
  const response = await post(body);
  expect(response.status, response.text.slice(0, 300)).toBe(200);
  expect(breaches('ImagesResponse', response.json())).toEqual([]);
  return response.json<DrawnImages>();
}
const fetchPng = async (path: string | undefined) => {
  const response = await fetch(`${gateway.url}${path}`, {
    headers: { authorization: `Bearer ${CLIENT_KEY}` },
  });
  return Buffer.from(await response.arrayBuffer());
};

describe('LiteLLM', () => {
  const model = 'gpt-image-1';

  it('gets the request unchanged; the answer is rebuilt with a stored image, its revised prompt and its usage', async () => {
    const sent = {
      model,
      prompt: 'a cat',
      n: 1,
      size: 'auto',
      quality: 'high',
      moderation: 'low',
      user: 'u',
    };
    const image = await draw(sent);
    expect(JSON.parse(lite?.requests.at(-1)?.body ?? '')).toEqual(sent);
    expect(lite?.requests.at(-1)?.headers.authorization).toBe('Bearer lite-key-31415926');
    expect(image).toMatchObject({
      data: [{ revised_prompt: 'A cat, in oil' }],
      ...{ size: '1024x1024', quality: 'high', background: 'opaque', usage: USAGE },
      _svc: { upstream: 'lite', model, meta: { width: 64, height: 32 } },
    });
    expect(image).not.toHaveProperty('secret');
    expect(image.data[0]?.url).toMatch(/^\/api\/images\/cache\/.*\.png$/);
    expect((await fetchPng(image.data[0]?.url)).subarray(0, 4).toString('latin1')).toBe('\x89PNG');
  });

  it('returns another format as data', async () => {
    const image = await draw({ model, output_format: 'jpeg' });
    expect(image).toMatchObject({ output_format: 'jpeg', data: [{ b64_json: JPEG.toString('base64') }] });
  });

  it('that ignores the wanted format: its PNG is converted, another format is named', async () => {
    const converted = await draw({ model, output_format: 'webp', output_compression: 70 });
    expect(converted.output_format).toBe('webp');
    expect(imageFormat(Buffer.from(converted.data[0]?.b64_json ?? '', 'base64'))).toBe('webp');
    expect(converted._svc.meta).not.toHaveProperty('ignored');
    const other = await draw({ model, prompt: 'JPEG', output_format: 'webp' });
    expect(other).toMatchObject({ output_format: 'jpeg', _svc: { meta: { ignored: ['output_format'] } } });
  });

  it('that makes fewer images than requested: n is named', async () => {
    expect((await draw({ model, n: 2 }))._svc.meta).toMatchObject({ ignored: ['n'] });
    expect((await draw({ model, n: 1 }))._svc.meta).not.toHaveProperty('ignored');
  });

  it('a stream is made from the response; the upstream gets a request without one', async () => {
    const response = await post({ model, stream: true, partial_images: 2 });
    expect(response.text).toContain(
      'event: image_generation.completed\ndata: {"type":"image_generation.completed"',
    );
    expect(response.text).toContain('"usage":{"input_tokens":9');
    expect(JSON.parse(lite?.requests.at(-1)?.body ?? '')).toEqual({ model, prompt: 'a cat' });
  });

  it.each([
    ['REFUSE', 400, 'Your request was rejected by the safety system.'],
    ['EMPTY', 502, 'Upstream lite answered without an image.'],
    ['NOISE', 502, 'The image from upstream lite is not a complete PNG.'],
    ['INTERNAL', 502, 'The image of upstream lite could not be downloaded.'],
  ])('%s is %i', async (prompt, status, message) => {
    const response = await post({ model, prompt });
    expect([response.status, response.json<{ error: { message: string } }>().error.message]).toEqual([
      status,
      message,
    ]);
  });

  it('needs a prompt and a key', async () => {
    expect((await post({ model, prompt: ' ' })).code).toBe('image.prompt_required');
    expect((await send(gateway, 'POST', IMAGES, { body: { model, prompt: 'x' } })).status).toBe(401);
  });
});

describe('LocalAI', () => {
  const model = 'stablediffusion';

  it('its image is downloaded with the credential of the upstream, and only the fields of the specification remain', async () => {
    const image = await draw({ model, n: 2 });
    expect(local?.requests.filter(({ url }) => url === '/generated-images/b64.png')).toHaveLength(2);
    expect(image.data).toEqual(
      Array(2).fill({ url: expect.stringMatching(/^\/api\/images\/cache\/.*\.png$/) }),
    );
    expect((await fetchPng(image.data[0]?.url)).equals(PNG)).toBe(true);
    // Its usage counts no tokens of an image.
    expect(Object.keys(image).sort()).toEqual(['_svc', 'created', 'data']);
  });

  it('its Base64 is passed on', async () => {
    const image = await draw({ model, response_format: 'b64_json' });
    expect(image.data).toEqual([{ b64_json: PNG.toString('base64') }]);
  });
});

it("stable-diffusion.cpp's server", async () => {
  const image = await draw({ model: 'sd-cpp-local', size: '64x64', n: 2 });
  expect(image).toMatchObject({ data: [{}, {}], _svc: { upstream: 'sd' } });
});

it('a second gateway, whose image has a relative address', async () => {
  const image = await draw({ model: 'v1-5-pruned-emaonly', size: '64x64', seed: 7 });
  expect(image._svc).toMatchObject({ upstream: 'second', meta: { width: 64, height: 64 } });
  expect((await fetchPng(image.data[0]?.url)).length).toBeGreaterThan(50);
});

it('the model list shows image models of upstreams with show_all only', async () => {
  const list = async (query: string) =>
    (await send(gateway, 'GET', `/v1/models${query}`)).json<{ data: V1ModelRecord[] }>().data;
  const found = (await list('?show_all=1')).find(({ id }) => id === 'gpt-image-1');
  expect(found?.capabilities.image_generation).toBe(true);
  expect((await list('')).map(({ id }) => id)).not.toContain('gpt-image-1');
});

describe('without any image engine', () => {
  const bare = new OneGateway(() =>
    startLocked({ files: { 'config/slots/agent.toml': 'enabled = false\n' } }),
  );
  it('one sentence says so and where to set it up', async () => {
    for (const [model, code] of [
      ['sdxl', 'dispatch.no_route'],
      ['mine.safetensors', 'image.model_not_curated'],
    ]) {
      const response = await send(bare, 'POST', IMAGES, { body: { model, prompt: 'x' }, key: CLIENT_KEY });
      expect(response).toMatchObject({ status: 404, code });
      expect(response.text).toContain('No image engine is configured.');
    }
  });
});
