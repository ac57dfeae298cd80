/** A gateway that draws: on stand-ins of ComfyUI and stable-diffusion.cpp, and on an upstream. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ImagesResponse } from '../../contract/images.ts';
import { type ComfyStandIn, comfyStandIn } from './comfy-stand-in.ts';
import { drawnPng } from './drawn-png.ts';
import { CLIENT_KEY, type Gateway, startLocked } from './gateway.ts';
import { type Answer, ask } from './http.ts';
import { OneGateway } from './one-gateway.ts';
import { type SdStandIn, sdSlot, sdStandIn } from './sd-stand-in.ts';
import { json, type StandIn, standIn } from './stand-in.ts';

export const IMAGES = '/v1/images/generations';
/** What is asked for where a test names nothing else. */
export const SMALL = { model: 'sdxl', prompt: 'a cat', size: '64x64' as const };

export type Drawn = ImagesResponse & { data: { url: string; b64_json: string }[] };
const comfySlot = (url: string, more = '') =>
  `type = "image"\nengine = "comfyui"\nrunner = "attach"\nurl = "${url}"\nautoload = false\n${more}`;

/** An upstream that speaks like OpenAI's. */
export const painter = ({ url, body }: { url: string; body: string }) => {
  if (url.endsWith('/models')) return json(200, { data: [{ id: 'flux-dev' }] });
  if (body.includes('BUSY')) return json(400, { error: { message: 'No cats today.', code: 'nope' } });
  if (body.includes('PATH')) return json(500, { error: { message: 'cannot read /srv/models/flux.bin' } });
  const b64_json = drawnPng({ width: 64, height: 64, seed: 1 }).toString('base64');
  return json(200, { created: 1, data: [{ b64_json }] });
};

/** The servers behind it, for one test file. */
class Painters {
  #all: [comfy: ComfyStandIn, sd: SdStandIn, far: StandIn] | null = null;

  constructor() {
    beforeAll(async () => {
      this.#all = await Promise.all([comfyStandIn(), sdStandIn(), standIn(painter)]);
    });
    afterAll(() => Promise.all(this.#all?.map((each) => each.down()) ?? []));
  }

  get all(): readonly [comfy: ComfyStandIn, sd: SdStandIn, far: StandIn] {
    if (this.#all === null) throw new Error('the stand-ins are not started');
    return this.#all;
  }
}

function start([comfy, sd, far]: Painters['all']): Promise<Gateway> {
  return startLocked({
    env: { UPSTREAM_FAR: 'far-key-31415926' },
    files: {
      'config/config.toml': '[slots]\nqueue_max = 1\n',
      'config/slots/img.toml': comfySlot(comfy.url, 'model = "sdxl-turbo"\n'),
      'config/slots/cpp.toml': sdSlot(sd.url),
      'config/slots/bare.toml': comfySlot(comfy.url),
      'config/upstreams/far.toml': `base_url = "${far.url}/v1"\nkey_env = "UPSTREAM_FAR"\nmodels = ["flux-dev"]\n`,
    },
  });
}

/** One for a test file, from its first test to its last. */
export class ImageGateway extends OneGateway {
  readonly #painters: Painters;

  constructor() {
    const painters = new Painters();
    super(() => start(painters.all));
    this.#painters = painters;
  }

  get comfy(): ComfyStandIn {
    return this.#painters.all[0];
  }
  get sd(): SdStandIn {
    return this.#painters.all[1];
  }
  get far(): StandIn {
    return this.#painters.all[2];
  }
  /** Where pictures are kept. */
  get folder(): string {
    return join(this.home, 'state', 'images');
  }

  /** How many pictures are kept. */
  kept = (): number => (existsSync(this.folder) ? readdirSync(this.folder).length : 0);

  post = (body: object, key = CLIENT_KEY): Promise<Answer> => ask(this, 'POST', IMAGES, { body, key });

  /** Draws a small picture; fails the test where none comes. */
  draw = async (body: object): Promise<Drawn> => {
    const answer = await this.post({ ...SMALL, ...body });
    expect(answer.text.slice(0, 300)).toContain('"created"');
    return answer.json<Drawn>();
  };

  /** What the route of kept pictures answers at once, as a browser asks. */
  fetchBytes = (path: string, key: string | null = CLIENT_KEY): Promise<Response> =>
    fetch(`${this.url}${path}`, { headers: key ? { authorization: `Bearer ${key}` } : {} });

  /** The refusal of a small picture. */
  problem = async (prompt: string, more: object = {}) => {
    const answer = await this.post({ ...SMALL, prompt, ...more });
    const { error } = answer.json<{ error: { code: string; message: string; details?: object } }>();
    return { status: answer.status, text: answer.text, ...error };
  };
}
