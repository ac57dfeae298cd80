/** A gateway that draws: on stand-ins of ComfyUI and stable-diffusion.cpp, and on an upstream. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ImagesResponse } from '../../contract/images.ts';
import { type ComfyStandIn, comfyStandIn } from './comfy-stand-in.ts';
import { drawnPng } from './drawn-png.ts';
import { CLIENT_KEY, type Gateway, KEYS_FILE, startGateway } from './gateway.ts';
import { type Answer, ask } from './http.ts';
import { type SdStandIn, sdStandIn } from './sd-stand-in.ts';
import { json, type StandIn, standIn } from './stand-in.ts';

export const IMAGES = '/v1/images/generations';
/** What is asked for where a test names nothing else. */
export const SMALL = { model: 'sdxl', prompt: 'a cat', size: '64x64' as const };

export type Drawn = ImagesResponse & { data: { url: string; b64_json: string }[] };
interface Running {
  readonly gateway: Gateway;
  readonly comfy: ComfyStandIn;
  readonly sd: SdStandIn;
  readonly far: StandIn;
}

const attached = (engine: string, url: string, more = '') =>
  `type = "image"\nengine = "${engine}"\nrunner = "attach"\nurl = "${url}"\nautoload = false\n${more}`;

/** An upstream that speaks like OpenAI's. */
export const painter = ({ url, body }: { url: string; body: string }) => {
  if (url.endsWith('/models')) return json(200, { data: [{ id: 'flux-dev' }] });
  if (body.includes('BUSY')) return json(400, { error: { message: 'No cats today.', code: 'nope' } });
  if (body.includes('PATH')) return json(500, { error: { message: 'cannot read /srv/models/flux.bin' } });
  const b64_json = drawnPng({ width: 64, height: 64, seed: 1 }).toString('base64');
  return json(200, { created: 1, data: [{ b64_json }] });
};

async function start(): Promise<Running> {
  const [comfy, sd, far] = await Promise.all([comfyStandIn(), sdStandIn(), standIn(painter)]);
  const gateway = await startGateway({
    env: { SVC_REQUIRE_AUTH: 'on', UPSTREAM_FAR: 'far-key-31415926' },
    files: {
      ...KEYS_FILE,
      'config/config.toml': '[slots]\nqueue_max = 1\n',
      'config/slots/agent.toml': 'autoload = false\n',
      'config/slots/img.toml': attached('comfyui', comfy.url, 'model = "sdxl-turbo"\n'),
      'config/slots/cpp.toml': attached('sd-server', sd.url, 'model = "v1-5-pruned-emaonly"\n'),
      'config/slots/bare.toml': attached('comfyui', comfy.url),
      'config/upstreams/far.toml': `base_url = "${far.url}/v1"\nkey_env = "UPSTREAM_FAR"\nmodels = ["flux-dev"]\n`,
    },
  });
  return { gateway, comfy, sd, far };
}

/** One for a test file, from its first test to its last. */
export class ImageGateway {
  #running: Running | null = null;

  constructor() {
    beforeAll(async () => {
      this.#running = await start();
    });
    afterAll(async () => {
      const { gateway, comfy, sd, far } = this.#running ?? {};
      await gateway?.stop();
      await Promise.all([comfy?.down(), sd?.down(), far?.down()]);
      gateway?.remove();
    });
  }

  get #all(): Running {
    if (this.#running === null) throw new Error('the gateway is not started');
    return this.#running;
  }
  get gateway(): Gateway {
    return this.#all.gateway;
  }
  get comfy(): ComfyStandIn {
    return this.#all.comfy;
  }
  get sd(): SdStandIn {
    return this.#all.sd;
  }
  get far(): StandIn {
    return this.#all.far;
  }
  /** Where pictures are kept. */
  get folder(): string {
    return join(this.gateway.home, 'state', 'images');
  }

  /** How many pictures are kept. */
  kept = (): number => (existsSync(this.folder) ? readdirSync(this.folder).length : 0);

  post = (body: object, key = CLIENT_KEY): Promise<Answer> =>
    ask(this.gateway, 'POST', IMAGES, { body, key });

  /** Draws a small picture; fails the test where none comes. */
  draw = async (body: object): Promise<Drawn> => {
    const answer = await this.post({ ...SMALL, ...body });
    expect(answer.text.slice(0, 300)).toContain('"created"');
    return answer.json<Drawn>();
  };

  /** What the route of kept pictures answers at once, as a browser asks. */
  fetchBytes = (path: string, key: string | null = CLIENT_KEY): Promise<Response> =>
    fetch(`${this.gateway.url}${path}`, { headers: key ? { authorization: `Bearer ${key}` } : {} });

  /** The refusal of a small picture. */
  problem = async (prompt: string, more: object = {}) => {
    const answer = await this.post({ ...SMALL, prompt, ...more });
    const { error } = answer.json<{ error: { code: string; message: string; details?: object } }>();
    return { status: answer.status, text: answer.text, ...error };
  };
}
