import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { listenOnLoopback, portOf } from '../../lib/testing/listening.ts';
import { type Installed, objectInfo, type Prompt, validatePrompt } from './comfy-nodes.ts';
import { damagedPng, drawnPng } from './drawn-png.ts';

interface Job {
  readonly id: string;
  readonly number: number;
  readonly prompt: Prompt;
  readonly client: string;
  readonly previews: boolean;
}

/**
 * A STAND-IN for ComfyUI, which needs a GPU and gigabytes of weights: it validates workflows, has a queue and a history,
 * reports progress over a WebSocket and returns real PNGs whose pixels depend on the seed. Words in the prompt choose
 * the fault: HANG, SLOW, FAIL, OOM, HTML, CUT, DAMAGED, HUGE, LOSE, NOTHING, WARN (errors of nodes inside a 200).
 */
export interface ComfyStandIn {
  readonly url: string;
  /** `METHOD /path` with the body of a POST, in order. */
  readonly requests: string[];
  /** Accepted prompts by their ids. */
  readonly accepted: Map<string, Prompt>;
  readonly interrupted: string[];
  installed: Installed;
  /** False: an old version, which chooses its own job ids. */
  acceptsIds: boolean;
  /** False: WebSockets are rejected. */
  hasSockets: boolean;
  /** Ids of the queue, the running one first. */
  queued(): string[];
  /** Closes every WebSocket. */
  closeSockets(): void;
  stop(): Promise<void>;
}

const INSTALLED: Installed = {
  checkpoints: [
    'v1-5-pruned-emaonly.safetensors',
    'SDXL/sd_xl_base_1.0.safetensors',
    'sd_xl_turbo_1.0_fp16.safetensors',
    'flux1-schnell-fp8.safetensors',
    'dreamshaper_8.safetensors',
    'anime/ponyRealism.safetensors',
  ],
  diffusion_models: ['flux1-dev.safetensors'],
  text_encoders: ['clip_l.safetensors', 't5xxl_fp8_e4m3fn.safetensors'],
  vae: ['ae.safetensors'],
  loras: ['detail.safetensors'],
};
/** What `GET /view_metadata` reports for files that have metadata. */
const METADATA: Readonly<Record<string, object>> = {
  'dreamshaper_8.safetensors': { 'modelspec.architecture': 'stable-diffusion-v1', ss_sd_model_name: 'x' },
};
const STEP_MS = 10;
const SLOW_MS = 200;
const PROBLEM = 'Allocation on device /home/owner/ComfyUI/models/secret.safetensors failed';

class Comfy {
  readonly requests: string[] = [];
  readonly accepted = new Map<string, Prompt>();
  readonly interrupted: string[] = [];
  installed = INSTALLED;
  acceptsIds = true;
  hasSockets = true;
  readonly listeners = new Map<WebSocket, string>();
  readonly #queue: Job[] = [];
  readonly #history = new Map<string, object>();
  #running: AbortController | null = null;
  #number = 0;

  queued = (): string[] => this.#queue.map(({ id }) => id);

  emit(job: Job, type: string, data: object): void {
    const message = JSON.stringify({ type, data: { ...data, prompt_id: job.id } });
    for (const [socket, client] of this.listeners) if (client === job.client) socket.send(message);
  }

  respond(method: string, url: URL, body: Record<string, unknown>, res: ServerResponse) {
    const { pathname: path, searchParams } = url;
    const [, first, last = ''] = path.split('/');
    if (path === '/system_stats')
      return json(res, 200, { system: { comfyui_version: '0.30.0', argv: ['main.py'] }, devices: [] });
    if (first === 'view_metadata') {
      const metadata = METADATA[searchParams.get('filename') ?? ''];
      return json(res, metadata === undefined ? 404 : 200, metadata ?? {});
    }
    if (first === 'object_info') return json(res, 200, objectInfo(last, this.installed));
    if (first === 'history' && method === 'GET') {
      const entry = this.#history.get(last);
      return json(res, 200, entry ? { [last]: entry } : {});
    }
    if (path === '/queue' && method === 'GET') return json(res, 200, this.#queueView());
    if (path === '/prompt') return this.#submit(body, res);
    if (path === '/view') return this.#view(searchParams, res);
    if (path === '/queue') for (const id of body.delete as string[]) this.#remove(id);
    if (path === '/history') for (const id of body.delete as string[]) this.#history.delete(id);
    if (path === '/interrupt') this.#interrupt(body.prompt_id as string | undefined);
    if (!['/queue', '/history', '/interrupt', '/free'].includes(path)) return json(res, 404, {});
    res.end();
  }

  #queueView(): object {
    const rows = this.#queue.map(({ id, number, prompt }) => [number, id, prompt, {}, ['9']]);
    return { queue_running: rows.slice(0, 1), queue_pending: rows.slice(1) };
  }

  #submit(body: Record<string, unknown>, res: ServerResponse) {
    const prompt = body.prompt as Prompt;
    const { error, node_errors } = validatePrompt(prompt, this.installed);
    if (error) return json(res, 400, { error, node_errors });
    const id = this.acceptsIds ? (body.prompt_id as string) : randomUUID();
    const job = {
      id,
      number: this.#number++,
      prompt,
      client: String(body.client_id),
      previews: body.extra_data !== undefined,
    };
    this.accepted.set(id, prompt);
    this.#queue.push(job);
    const warning = {
      type: 'custom_validation_failed',
      message: 'x',
      details: '/home/owner/secret',
      extra_info: {},
    };
    const errors = promptHas(job, 'WARN')
      ? { 9: { errors: [warning], dependent_outputs: [], class_type: 'X' } }
      : {};
    json(res, 200, { prompt_id: id, number: job.number, node_errors: errors });
    if (this.#queue.length === 1) void this.#work();
  }

  #remove(id: string): void {
    const at = this.#queue.findIndex((job) => job.id === id);
    if (at > 0) this.#queue.splice(at, 1);
  }

  #interrupt(id: string | undefined): void {
    const [running] = this.#queue;
    if (!running || (id !== undefined && id !== running.id && this.acceptsIds)) return;
    this.interrupted.push(running.id);
    this.#running?.abort();
  }

  async #work(): Promise<void> {
    for (let [job] = this.#queue; job; [job] = this.#queue) {
      this.#running = new AbortController();
      const entry = await this.#run(job, this.#running.signal);
      this.#queue.shift();
      if (promptHas(job, 'LOSE')) continue;
      this.#history.set(job.id, { prompt: [job.number, job.id, job.prompt, {}, ['9']], ...entry });
      this.emit(job, 'executing', { node: null });
    }
  }

  async #run(job: Job, signal: AbortSignal): Promise<object> {
    const fail = (type: string, data: object) => {
      this.emit(job, type, data);
      return {
        outputs: {},
        status: { status_str: 'error', completed: false, messages: [[type, data]] },
        meta: {},
      };
    };
    this.emit(job, 'execution_start', {});
    const { steps, count } = parametersOf(job.prompt);
    for (let step = 1; step <= steps || promptHas(job, 'HANG'); step++) {
      if (step <= steps) this.emit(job, 'progress', { node: '3', value: step, max: steps });
      if (step <= steps && job.previews) this.#emitPreview(job);
      await new Promise((done) => setTimeout(done, promptHas(job, 'SLOW') ? SLOW_MS : STEP_MS));
      if (signal.aborted) return fail('execution_interrupted', { node_id: '3' });
    }
    if (promptHas(job, 'FAIL') || promptHas(job, 'OOM')) {
      const exception_type = promptHas(job, 'OOM') ? 'torch.OutOfMemoryError' : 'RuntimeError';
      return fail('execution_error', {
        node_id: '3',
        node_type: 'KSampler',
        executed: ['4', '5'],
        exception_message: PROBLEM,
        exception_type,
        traceback: [PROBLEM],
      });
    }
    const images = Array.from({ length: promptHas(job, 'NOTHING') ? 0 : count }, (_, index) => ({
      filename: `ComfyUI_temp_${job.id}_${index}_.png`,
      subfolder: '',
      type: 'temp',
    }));
    this.emit(job, 'execution_success', {});
    const [output = '9'] =
      Object.entries(job.prompt).find(([, { class_type = '' }]) => /Image$/.test(class_type)) ?? [];
    const status = { status_str: 'success', completed: true, messages: [['execution_success', {}]] };
    return { outputs: { [output]: { images } }, status, meta: {} };
  }

  /** Sends a preview as the real program does: event 1, image type 1 (JPEG), the image. */
  #emitPreview(job: Job): void {
    const head = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]);
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0x10]);
    for (const [socket, client] of this.listeners)
      if (client === job.client) socket.send(Buffer.concat([head, jpeg]));
  }

  #view(query: URLSearchParams, res: ServerResponse) {
    const [, id = '', index = ''] = /^ComfyUI_temp_(.+)_(\d+)_\.png$/.exec(query.get('filename') ?? '') ?? [];
    const prompt = this.accepted.get(id);
    if (prompt === undefined || query.get('type') !== 'temp') return json(res, 404, {});
    const { width, height, seed } = parametersOf(prompt);
    const notes = { prompt: JSON.stringify(prompt), workflow: '{"owner":"/home/owner"}' };
    const png = drawnPng({ width, height, seed: seed + Number(index), notes });
    const promptContains = (word: string) => JSON.stringify(prompt).includes(word);
    const bytes = promptContains('HTML')
      ? Buffer.from('<html><script>1</script></html>')
      : promptContains('CUT')
        ? png.subarray(0, -20)
        : promptContains('DAMAGED')
          ? damagedPng(png)
          : png;
    if (promptContains('HUGE')) bytes.writeUInt32BE(60_000, 16);
    res.writeHead(200, { 'content-type': 'image/png' });
    res.end(bytes);
  }
}

const promptHas = ({ prompt }: Job, word: string): boolean => JSON.stringify(prompt).includes(word);

function parametersOf(prompt: Prompt) {
  const inputs = Object.assign({}, ...Object.values(prompt).map((node) => node.inputs)) as Record<
    string,
    number
  >;
  const { width = 0, height = 0, steps = 1, batch_size: count = 1 } = inputs;
  return { width, height, steps, count, seed: inputs.seed ?? inputs.noise_seed ?? 0 };
}

function json(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}

async function readBody(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** Starts a stand-in on a free port of the loopback address. */
export async function comfyStandIn(): Promise<ComfyStandIn> {
  const comfy = new Comfy();
  const connections = new Set<Socket>();
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer(async (req, res) => {
    const text = await readBody(req).catch(() => '');
    const url = new URL(req.url ?? '/', 'http://stand-in');
    comfy.requests.push(`${req.method} ${req.url}${text === '' ? '' : ` ${text}`}`);
    comfy.respond(
      req.method ?? '',
      url,
      text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      res,
    );
  });
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => connections.delete(socket));
  });
  server.on('upgrade', (req, socket, head) => {
    if (!comfy.hasSockets) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(req, socket, head, (client) => {
      comfy.listeners.set(client, new URL(req.url ?? '', 'http://x').searchParams.get('clientId') ?? '');
      client.send(
        JSON.stringify({ type: 'status', data: { status: { exec_info: { queue_remaining: 0 } } } }),
      );
      client.send(Buffer.alloc(1000));
      client.once('close', () => comfy.listeners.delete(client));
    });
  });
  await listenOnLoopback(server);
  const closeSockets = () => {
    for (const client of comfy.listeners.keys()) client.terminate();
  };
  const stop = () =>
    new Promise<void>((done) => {
      closeSockets();
      server.close(() => done());
      for (const socket of connections) socket.destroy();
    });
  return Object.assign(comfy, {
    url: `http://127.0.0.1:${portOf(server)}`,
    closeSockets,
    stop,
  });
}
