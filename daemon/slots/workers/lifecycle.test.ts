import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../../models/testing/gguf/writer.ts';
import { WORKER_EXIT } from './protocol.ts';
import {
  type ForkedWorker,
  forkSavingWorker,
  forkWorker,
  KEY,
  modelFile,
  readEvents,
} from './testing/forked-worker.ts';
import { LIMITS } from './testing/saving-main.ts';

let file: Awaited<ReturnType<typeof modelFile>>;
const workers: ForkedWorker[] = [];
const start = async (path = file.path, changes: Parameters<typeof forkWorker>[1] = {}) => {
  const worker = await forkWorker(path, changes);
  workers.push(worker);
  return worker;
};

beforeAll(async () => {
  file = await modelFile(tinyChat({ context: 65_536 }));
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await file.remove();
});

const endless = { prompt: 'a', stream: true, temperature: 0 };

test('ends when the daemon has exited, also during a response', async () => {
  const worker = await start(file.path, { context: 32_768 });
  await worker.ready;
  const response = await worker.post('/v1/completions', endless);
  const reading = (async () => {
    for await (const _ of readEvents(response));
  })();
  reading.catch(() => undefined);
  worker.child.disconnect();
  expect(await worker.exited).toEqual({ code: WORKER_EXIT.ended, signal: null });
  await expect(reading).rejects.toThrow();
});

test('ends when the daemon exits during the load', async () => {
  const worker = await start();
  worker.child.disconnect();
  expect(await worker.exited).toEqual({ code: WORKER_EXIT.ended, signal: null });
});

test('after SIGTERM finishes a running response, then ends', async () => {
  const worker = await start();
  await worker.ready;
  const response = await worker.post('/v1/completions', { ...endless, max_tokens: 60 });
  worker.child.kill('SIGTERM');
  const events: string[] = [];
  for await (const event of readEvents(response)) events.push(event);
  expect(events.at(-1)).toBe('[DONE]');
  expect(await worker.exited).toEqual({ code: WORKER_EXIT.ended, signal: null });
});

test('kill -9 ends a stream without [DONE]', async () => {
  const worker = await start(file.path, { context: 32_768 });
  await worker.ready;
  const response = await worker.post('/v1/completions', endless);
  worker.child.kill('SIGKILL');
  const events: string[] = [];
  await expect(async () => {
    for await (const event of readEvents(response)) events.push(event);
  }).rejects.toThrow();
  expect(events).not.toContain('[DONE]');
});

test.each([
  [
    'a missing file',
    async () => '/nonexistent/folder/none.gguf',
    /^the model file none.gguf does not exist$/,
  ],
  ['a file of another type', () => written(Buffer.from('not a model at all')), /^model.gguf: .+/],
  ['a truncated model', () => written(encodeGguf(tinyChat()).subarray(0, 300_000)), /^model.gguf: .+/],
  ['a truncated header', () => written(encodeGguf(tinyChat()).subarray(0, 900)), /^model.gguf: .+/],
  ['an unknown architecture', () => written(otherArchitecture()), /^model.gguf: .*(architecture|xlama)/],
])('%s fails with one line without folders, and a code', async (_, make, reason) => {
  const path = await make();
  const worker = await start(path);
  await expect(worker.ready).rejects.toThrow(reason);
  const failed = worker.messages.find((message) => message.type === 'failed');
  expect(failed?.reason).not.toMatch(/\/(tmp|nonexistent)/);
  expect(await worker.exited).toEqual({ code: WORKER_EXIT.failed, signal: null });
});

test('while the model loads, health is 503 and other routes report it', async () => {
  const worker = await start();
  const [health, models] = await Promise.all([
    fetch(`${worker.origin}/health`),
    fetch(`${worker.origin}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } }),
  ]);
  expect([health.status, models.status]).toEqual([503, 503]);
  expect(await health.json()).toMatchObject({ status: 'loading' });
  expect(await models.json()).toMatchObject({ error: { code: 'slot.loading', type: 'server_error' } });
  await worker.ready;
  expect((await fetch(`${worker.origin}/health`)).status).toBe(200);
});

const PICKY = "{% if messages | length > 1 %}{{ raise_exception('roles must alternate') }}{% endif %}hi";

test('serves a model without a template with ChatML, and responds 400 when a template refuses the messages', async () => {
  const bare = await start(await written(encodeGguf(tinyChat({ template: null }))));
  const refusing = await start(await written(encodeGguf(tinyChat({ template: PICKY }))));
  expect((await bare.ready).chatTemplate).toBe(false);
  await refusing.ready;
  const chat = { messages: [{ role: 'user', content: 'hi' }], temperature: 0 };
  expect((await bare.post('/v1/chat/completions', chat)).status).toBe(200);
  const between = { role: 'assistant', content: 'hello' };
  const longer = { messages: [...chat.messages, between, ...chat.messages] };
  const refused = await refusing.post('/v1/chat/completions', longer);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: { message: expect.stringContaining('roles must alternate') },
  });
});

test('reports a missing parent and ends', async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./llama-main.ts', import.meta.url))], {
    env: {},
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  expect((await once(child, 'exit'))[0]).toBe(WORKER_EXIT.misuse);
  expect(stderr).toContain('started by the gateway');
});

const files: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(files.map((remove) => remove())));
async function written(bytes: Buffer): Promise<string> {
  const { path, remove } = await modelFile(bytes);
  files.push(remove);
  return path;
}

function otherArchitecture(): Buffer {
  return Buffer.from(encodeGguf(tinyChat()).toString('latin1').replace('llama', 'xlama'), 'latin1');
}

/** Ends a worker whose save takes `saveMs`. Returns its exit and the messages of its end. */
async function endSaving(saveMs: number, end: (worker: ForkedWorker) => void) {
  const worker = await forkSavingWorker(saveMs);
  workers.push(worker);
  await worker.ready;
  end(worker);
  const exit = await worker.exited;
  // The last messages may arrive after the exit.
  if (worker.child.connected) await once(worker.child, 'disconnect');
  const messages = worker.messages.map(({ type }) => type).filter((type) => /^sav/.test(type));
  return { ...exit, messages };
}

describe('the save at the end of a worker', () => {
  const onSignal = ({ child }: ForkedWorker) => void child.kill('SIGTERM');

  test('may take longer than the rest of the end', async () => {
    const ended = await endSaving(LIMITS.forceExitMs + 1_000, onSignal);
    expect(ended).toEqual({ code: WORKER_EXIT.ended, signal: null, messages: ['saving', 'saved'] });
  });

  test('may take as long when the daemon has exited', async () => {
    const ended = await endSaving(LIMITS.forceExitMs + 1_000, ({ child }) => child.disconnect());
    expect(ended).toEqual({ code: WORKER_EXIT.ended, signal: null, messages: [] });
  });

  test('ends the worker by force after its limit, and is not reported as complete', async () => {
    const ended = await endSaving(600_000, onSignal);
    expect(ended).toEqual({ code: null, signal: 'SIGKILL', messages: ['saving'] });
  });
});
