/** A gateway with image slots (stand-ins of ComfyUI and stable-diffusion.cpp) and an image upstream. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ImagesResponse } from '../../contract/images.ts';
import { type ComfyStandIn, comfyStandIn } from './comfy-stand-in.ts';
import { drawnPng } from './drawn-png.ts';
import { CLIENT_KEY, type Gateway, startLocked } from './gateway.ts';
import { type HttpResponse, send } from './http.ts';
import { OneGateway } from './one-gateway.ts';
import { type SdStandIn, sdSlot, sdStandIn } from './sd-stand-in.ts';
import { json, type StandIn, standIn } from './stand-in.ts';

export const IMAGES = '/v1/images/generations';
/** Default request of the tests. */
export const SMALL = { model: 'sdxl', prompt: 'a cat', size: '64x64' as const };

export type DrawnImages = ImagesResponse & { data: { url: string; b64_json: string }[] };
const comfySlot = (url: string, more = '') =>
  `type = "image"\nengine = "comfyui"\nrunner = "attach"\nurl = "${url}"\nautoload = false\n${more}`;

/** An upstream with the image API of OpenAI. */
export const imageProvider = ({ url, body }: { url: string; body: string }) => {
  if (url.endsWith('/models')) return json(200, { data: [{ id: 'flux-dev' }] });
  if (body.includes('BUSY')) return json(400, { error: { message: 'No cats today.', code: 'nope' } });
  if (body.includes('PATH')) return json(500, { error: { message: 'cannot read /srv/models/flux.bin' } });
  const b64_json = drawnPng({ width: 64, height: 64, seed: 1 }).toString('base64');
  return json(200, { created: 1, data: [{ b64_json }] });
};

/** The servers behind the gateway, for one test file. */
class ImageServers {
  #all: [comfy: ComfyStandIn, sd: SdStandIn, far: StandIn] | null = null;

  constructor() {
    beforeAll(async () => {
      this.#all = await Promise.all([comfyStandIn(), sdStandIn(), standIn(imageProvider)]);
    });
    afterAll(() => Promise.all(this.#all?.map((server) => server.stop()) ?? []));
  }

  get all(): readonly [comfy: ComfyStandIn, sd: SdStandIn, far: StandIn] {
    if (this.#all === null) throw new Error('the stand-ins are not started');
    return this.#all;
  }
}

function start([comfy, sd, far]: ImageServers['all']): Promise<Gateway> {
  return startLocked({
    env: { UPSTREAM_FAR: 'far-key-31415926' },
    files: {
      'config/config.toml': '[slots]\nqueue_max = 1\n',
      'config/slots/img.toml': comfySlot(comfy.url, 'model = "sdxl-turbo"\n'),
      'config/slots/cpp.toml': sdSlot(sd.url),
      'config/slots/bare.toml': comfySlot(comfy.url),
      'config/slots/dream.toml': comfySlot(
        comfy.url,
        'checkpoint = "dreamshaper_8.safetensors"\nvae = "ae.safetensors"\nloras = ["detail.safetensors"]\ndefaults = { steps = 3, cfg = 5, sampler = "dpmpp_2m", scheduler = "karras", clip_skip = 2, negative_prompt = "blurry" }\n',
      ),
      'config/slots/pony.toml': comfySlot(
        comfy.url,
        'checkpoint = "anime/ponyRealism.safetensors"\nfamily = "sdxl"\n',
      ),
      'config/upstreams/far.toml': `base_url = "${far.url}/v1"\nkey_env = "UPSTREAM_FAR"\nmodels = ["flux-dev"]\n`,
    },
  });
}

/** One gateway per test file, from its first test to its last. */
export class ImageGateway extends OneGateway {
  readonly #servers: ImageServers;

  constructor() {
    const servers = new ImageServers();
    super(() => start(servers.all));
    this.#servers = servers;
  }

  get comfy(): ComfyStandIn {
    return this.#servers.all[0];
  }
  get sd(): SdStandIn {
    return this.#servers.all[1];
  }
  get far(): StandIn {
    return this.#servers.all[2];
  }
  /** Folder of the stored images. */
  get folder(): string {
    return join(this.home, 'state', 'images');
  }

  /** Returns the number of stored images. */
  storedCount = (): number => (existsSync(this.folder) ? readdirSync(this.folder).length : 0);

  post = (body: object, key = CLIENT_KEY): Promise<HttpResponse> => send(this, 'POST', IMAGES, { body, key });

  /** Draws a small image. Fails the test when there is none. */
  draw = async (body: object): Promise<DrawnImages> => {
    const response = await this.post({ ...SMALL, ...body });
    expect(response.text.slice(0, 300)).toContain('"created"');
    return response.json<DrawnImages>();
  };

  /** Fetches a stored image as a browser does. */
  fetchBytes = (path: string, key: string | null = CLIENT_KEY): Promise<Response> =>
    fetch(`${this.url}${path}`, { headers: key ? { authorization: `Bearer ${key}` } : {} });

  /** Returns the error of a small image request. */
  drawError = async (prompt: string, more: object = {}) => {
    const response = await this.post({ ...SMALL, prompt, ...more });
    const { error } = response.json<{ error: { code: string; message: string; details?: object } }>();
    return { status: response.status, text: response.text, ...error };
  };
}
