import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeGguf, type GgufModel } from '../../../models/testing/gguf/writer.ts';
import type { WorkerConfig, WorkerHealth, WorkerInfo, WorkerMessage } from '../protocol.ts';
import type { SpeechConfig } from '../speech-config.ts';

const LLAMA = new URL('../llama-main.ts', import.meta.url);
const SAVING = new URL('./saving-main.ts', import.meta.url);
const SPEECH = new URL('../speech-main.ts', import.meta.url);
export const KEY = 'key-of-this-engine';

/** A real worker process and the requests of a test to it. */
export interface ForkedWorker {
  child: ChildProcess;
  origin: string;
  messages: WorkerMessage[];
  /** Resolves with the facts, or rejects with the worker's reason. */
  ready: Promise<WorkerInfo>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  post(path: string, body: unknown, options?: { key?: string; signal?: AbortSignal }): Promise<Response>;
  health(): Promise<WorkerHealth>;
  stop(): Promise<void>;
}

/** Writes `model` into a new folder. `remove` deletes it. */
export async function modelFile(
  model: GgufModel | Buffer,
): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-worker-'));
  const path = join(folder, 'model.gguf');
  await writeFile(path, Buffer.isBuffer(model) ? model : encodeGguf(model));
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Forks a worker for the model at `modelPath` and waits until it listens. */
export const forkWorker = (modelPath: string, changes: Partial<WorkerConfig> = {}): Promise<ForkedWorker> =>
  forkProgram(LLAMA, {
    kind: 'chat',
    modelPath,
    modelId: 'tiny',
    key: KEY,
    context: 512,
    parallel: 2,
    threads: 1,
    device: 'cpu',
    gpuLayers: null,
    batch: null,
    queueLimit: 8,
    ngramTokens: 0,
    kvCache: null,
    ...changes,
  } satisfies WorkerConfig);

/** Forks a worker without an engine whose save takes `saveMs`. */
export const forkSavingWorker = (saveMs: number): Promise<ForkedWorker> =>
  forkProgram(SAVING, { key: KEY, saveMs });

/** Forks a speech or transcription worker, which runs in `folder`. */
export const forkSpeechWorker = (
  modelPath: string,
  kind: SpeechConfig['kind'],
  folder: string,
  changes: Partial<SpeechConfig> = {},
): Promise<ForkedWorker> =>
  forkProgram(
    SPEECH,
    { kind, modelPath, modelId: 'tone', key: KEY, parallel: 2, threads: 1, queueLimit: 8, ...changes },
    folder,
  );

async function forkProgram(program: URL, config: object, cwd?: string): Promise<ForkedWorker> {
  const child = fork(program, [], {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    cwd,
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const messages: WorkerMessage[] = [];
  const ready = Promise.withResolvers<WorkerInfo>();
  const listening = Promise.withResolvers<number>();
  ready.promise.catch(() => undefined);
  child.on('message', (message: WorkerMessage) => {
    messages.push(message);
    if (message.type === 'listening') listening.resolve(message.port);
    if (message.type === 'ready') ready.resolve(message.info);
    if (message.type === 'failed') ready.reject(new Error(message.reason));
  });
  exited.then(({ code }) => {
    for (const waiting of [ready, listening]) waiting.reject(new Error(`the worker ended with ${code}`));
  });
  child.send({ type: 'start', config });
  const origin = `http://127.0.0.1:${await listening.promise}`;
  return {
    child,
    origin,
    messages,
    ready: ready.promise,
    exited,
    post: (path, body, { key = KEY, signal } = {}) =>
      fetch(origin + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        },
        body: typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body),
        signal: signal ?? null,
      }),
    health: async () => (await (await fetch(`${origin}/health`)).json()) as WorkerHealth,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Yields the events of a stream. `[DONE]` stays a string. */
export async function* readEvents(response: Response): AsyncGenerator<string> {
  let open = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    open += decoder.decode(bytes as Uint8Array, { stream: true });
    for (let end = open.indexOf('\n\n'); end >= 0; end = open.indexOf('\n\n')) {
      const event = open.slice(0, end);
      open = open.slice(end + 2);
      if (event.startsWith('data: ')) yield event.slice(6);
    }
  }
}
