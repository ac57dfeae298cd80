/**
 * LiteLLM's proxy as an upstream for images, in front of a second gateway and of a scripted server. Needs `--with clients`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImagesResponse } from '../../../daemon/contract/images.ts';
import type { V1ModelRecord } from '../../../daemon/contract/models.ts';
import { drawnPng } from '../../../daemon/test/harness/drawn-png.ts';
import { CLIENT_KEY, startLocked } from '../../../daemon/test/harness/gateway.ts';
import { type HttpResponse, send } from '../../../daemon/test/harness/http.ts';
import { IMAGES } from '../../../daemon/test/harness/image-gateway.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { type SdStandIn, sdSlot, sdStandIn } from '../../../daemon/test/harness/sd-stand-in.ts';
import { json, type StandIn, standIn } from '../../../daemon/test/harness/stand-in.ts';
import { breaches } from '../../../daemon/test/openai-schemas/validate.ts';
import { pythonEnvironment } from '../harness/python-environment.ts';
import { type Server, startServer } from '../harness/server.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const MINUTE = 60_000;
const MASTER_KEY = 'sk-litellm-master-31415926';
const LOCK = join(import.meta.dirname, 'litellm-proxy', 'requirements.txt');
const PNG = drawnPng({ width: 64, height: 32, seed: 1 });
const USAGE = {
  ...{ input_tokens: 9, output_tokens: 272, total_tokens: 281 },
  input_tokens_details: { text_tokens: 9, image_tokens: 0 },
};

const python = await availableOrSkip("LiteLLM's proxy", () =>
  pythonEnvironment({ name: 'litellm-proxy', lock: LOCK, limitMs: 5 * MINUTE }),
);

/** Returns the settings of LiteLLM: one model of a second gateway and one of a provider. */
const settingsOf = (second: string, provider: string): string =>
  JSON.stringify({
    model_list: [
      // LiteLLM passes `response_format` on for models of this name only.
      ['house-picture', 'dall-e-3', second, CLIENT_KEY],
      ['gpt-image-1', 'gpt-image-1', provider, 'provider-key-2718'],
    ].map(([name, model, base, key]) => ({
      model_name: name,
      litellm_params: { model: `openai/${model}`, api_base: `${base}/v1`, api_key: key },
      model_info: { mode: 'image_generation' },
    })),
    general_settings: { master_key: MASTER_KEY },
    litellm_settings: { telemetry: false, num_retries: 0 },
  });

describe.skipIf(python === null)("LiteLLM's proxy as an upstream for images", () => {
  let sd: SdStandIn;
  let provider: StandIn;
  let lite: Server;
  beforeAll(async () => {
    sd = await sdStandIn();
    provider = await standIn(({ body }) => {
      if (body.includes('REFUSE'))
        return json(400, {
          error: {
            message: 'No cats today.',
            type: 'image_generation_user_error',
            code: 'moderation_blocked',
          },
        });
      const data = [{ b64_json: PNG.toString('base64'), revised_prompt: 'A cat, in oil' }];
      return json(200, { created: 1, data, size: '1024x1024', quality: 'high', usage: USAGE });
    });
  });
  const second = new OneGateway(() =>
    startLocked({
      files: {
        'config/config.toml': '[aliases]\n"dall-e-3" = "img"\n',
        'config/slots/img.toml': sdSlot(sd.url),
        'config/slots/agent.toml': 'enabled = false\n',
      },
    }),
  );
  beforeAll(async () => {
    lite = await startServer({
      command: (port, folder) => {
        // JSON is valid YAML.
        writeFileSync(join(folder, 'config.yaml'), settingsOf(second.url, provider.url));
        const address = ['--host', '127.0.0.1', '--port', String(port)];
        return [join(python ?? '', '..', 'litellm'), '--config', join(folder, 'config.yaml'), ...address];
      },
      env: () => ({ LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_TELEMETRY: 'False', DO_NOT_TRACK: '1' }),
      ready: '/health/liveliness',
      limitMs: 4 * MINUTE,
    });
  }, 5 * MINUTE);
  afterAll(async () => {
    await Promise.all([lite?.stop(), provider?.stop(), sd?.stop()]);
  }, MINUTE);
  const gateway = new OneGateway(() =>
    startLocked({
      env: { UPSTREAM_LITE: MASTER_KEY },
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        'config/upstreams/lite.toml': `base_url = "http://127.0.0.1:${lite.port}/v1"\nkey_env = "UPSTREAM_LITE"\n`,
      },
    }),
  );

  const post = (body: object): Promise<HttpResponse> =>
    send(gateway, 'POST', IMAGES, { body: { prompt: 'a cat', ...body }, key: CLIENT_KEY });
  async function draw(body: object): Promise<ImagesResponse> {
    const response = await post(body);
    expect(response.status, response.text.slice(0, 500)).toBe(200);
    expect(breaches('ImagesResponse', response.json())).toEqual([]);
    return response.json<ImagesResponse>();
  }
  async function stored({ data }: ImagesResponse): Promise<Buffer> {
    const [image] = data;
    const path = image !== undefined && 'url' in image ? image.url : '';
    expect(path).toMatch(/^\/api\/images\/cache\/.*\.png$/);
    const response = await fetch(`${gateway.url}${path}`, {
      headers: { authorization: `Bearer ${CLIENT_KEY}` },
    });
    return Buffer.from(await response.arrayBuffer());
  }

  it('its models are listed, gpt-image-1 as a model for images', async () => {
    await expect
      .poll(async () => {
        const { data } = (await send(gateway, 'GET', '/v1/models?show_all=1', { key: CLIENT_KEY })).json<{
          data: V1ModelRecord[];
        }>();
        return data.filter(({ id }) => ['house-picture', 'gpt-image-1'].includes(id)).length;
      })
      .toBe(2);
    const { data } = (await send(gateway, 'GET', '/v1/models?show_all=1', { key: CLIENT_KEY })).json<{
      data: V1ModelRecord[];
    }>();
    expect(data.find(({ id }) => id === 'gpt-image-1')?.capabilities).toMatchObject({
      image_generation: true,
    });
  });

  it('a request reaches the provider behind it, and the response has the image, the revised prompt and the usage', async () => {
    const image = await draw({ model: 'gpt-image-1', size: '1024x1024', quality: 'high', n: 1 });
    expect(JSON.parse(provider.requests.at(-1)?.body ?? '')).toMatchObject({
      ...{ model: 'gpt-image-1', prompt: 'a cat', size: '1024x1024', quality: 'high', n: 1 },
    });
    expect(provider.requests.at(-1)?.headers.authorization).toBe('Bearer provider-key-2718');
    expect(image).toMatchObject({
      data: [{ revised_prompt: 'A cat, in oil' }],
      ...{ size: '1024x1024', quality: 'high', usage: USAGE },
      _svc: { upstream: 'lite', model: 'gpt-image-1', meta: { width: 64, height: 32 } },
    });
    expect((await stored(image)).subarray(1, 4).toString('latin1')).toBe('PNG');
  });

  it('draws with the second gateway behind it, whose image has a relative address', async () => {
    const image = await draw({ model: 'house-picture', size: '64x64', response_format: 'b64_json' });
    expect(image._svc).toMatchObject({ upstream: 'lite', meta: { width: 64, height: 64 } });
    expect(image.data).toEqual([{ b64_json: expect.stringMatching(/^iVBOR/) }]);
  });

  it('its own refusal names the field', async () => {
    const response = await post({ model: 'gpt-image-1', response_format: 'b64_json' });
    expect(response.status).toBe(400);
    expect(response.text).toContain('response_format');
  });

  it('the refusal of a provider has its status and its message', async () => {
    const response = await post({ model: 'gpt-image-1', prompt: 'REFUSE' });
    expect(response.status).toBe(400);
    expect(response.text).toContain('No cats today.');
    expect(response.text).not.toContain(MASTER_KEY);
  });
});
