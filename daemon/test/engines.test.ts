/**
 * docs/spec/contract.md#engines and docs/spec/contract.md#runners over a real port: external programs,
 * attached servers, llama-server and whisper-server where they are installed. A slot file each, requests
 * through /v1, and the faults of programs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { listening, portOf } from '../kit/testing/listening.ts';
import { tinyWhisper } from '../models/ggml/testing/tiny-whisper.ts';
import { tinyEmbed } from '../models/gguf/testing/tiny-embed.ts';
import { tinyRerank } from '../models/gguf/testing/tiny-rerank.ts';
import { tinyChat } from '../models/gguf/tiny-chat.ts';
import { writeOtherProgram } from '../slots/testing/other-program.ts';
import { alive } from './harness/descendants.ts';
import { startGateway, until } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { type Answer, ask, said } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { part } from './harness/parts.ts';
import { slot, slotDo, slotState } from './harness/slots.ts';

const CHAT = '/v1/chat/completions';
const LLAMA = part('llama-server');
const WHISPER = part('whisper-server');

const home = newHome();
let program: string;
/** Listens on a port that is none of ours, and counts who comes. */
let stranger: Server;
let met = 0;

const list = (words: readonly string[]) => JSON.stringify(words);
const node = (...words: string[]) => list([process.execPath, program, ...words]);

function files(): Record<string, string> {
  const llama = `engine = "llama-server"\ncommand = ${list([LLAMA ?? 'llama-server'])}\ndevice = "cpu"\nparallel = 1\n`;
  const listen = ['--host', '{host}', '--port', '{port}'];
  return {
    'config/slots/agent.toml': 'autoload = false\nmodel = "chat"\n',
    'config/slots/llama.toml': `${llama}model = "chat"\ncontext = 512\n`,
    'config/slots/gpu.toml': `${llama.replace('"cpu"', '"vulkan"')}model = "chat"\n`,
    'config/slots/gpu-2.toml': `${llama.replace('"cpu"', '"vulkan:1"')}model = "chat"\n`,
    'config/slots/embed.toml': `${llama}model = "vectors"\n`,
    'config/slots/rerank.toml': `${llama}model = "ranks"\n`,
    'config/slots/ear.toml': `type = "stt"\nengine = "whisper-server"\ndevice = "cpu"\ncommand = ${list([WHISPER ?? 'whisper-server'])}\nmodel = ${JSON.stringify(join(home, 'ear.bin'))}\n`,
    'config/slots/other.toml': `engine = "custom"\nkey_env = "ENGINE_KEY"\ncommand = ${node(...listen, '--loading', '1')}\nmodel = "their-model"\n`,
    'config/slots/elsewhere.toml': `engine = "custom"\ncommand = ${node('--port', String(portOf(stranger)))}\n`,
    'config/slots/missing.toml': 'engine = "custom"\ncommand = ["no-such-program"]\n',
  };
}

const MODELS = {
  chat: tinyChat({ reply: 'another engine speaks' }),
  vectors: tinyEmbed({ context: 1024 }),
  ranks: tinyRerank(),
};

beforeAll(async () => {
  program = writeOtherProgram(home);
  if (WHISPER !== null) writeFileSync(join(home, 'ear.bin'), tinyWhisper('a word in your ear'));
  stranger = createServer((socket) => {
    met += 1;
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  });
  await listening(stranger);
});
afterAll(() => void stranger?.close());
const gateway = new OneGateway(() => startGateway({ home, models: MODELS, files: files() }));

const post = (path: string, body: object) => ask(gateway, 'POST', path, { body });
const say = (model: string) =>
  post(CHAT, { model, messages: [{ role: 'user', content: 'x' }], temperature: 0, max_tokens: 16 });
const argvOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'latin1');
const reasonOf = (record: SlotRecord) => record.failure?.reason;

describe('a program of somebody else', () => {
  it('serves its slot: by name, by model, and with its own name for the model', async () => {
    const answer = await say('other');
    expect(answer.headers).toMatchObject({ 'x-svc-slot': 'other', 'x-svc-model': 'their-model' });
    expect(said(answer)).toBe('Hello from another program. (their-model)');
    expect(said(await say('their-model'))).toBe('Hello from another program. (their-model)');
    expect(await slot(gateway, 'other')).toMatchObject({
      engine: 'custom',
      runner: 'process',
      state: 'ready',
      tokens_per_second: expect.any(Number),
      memory_bytes: expect.any(Number),
    });
  });

  it('P03: killed, the slot fails with its reason, and the next load is clean', async () => {
    await say('other');
    const { pid } = await slot(gateway, 'other');
    process.kill(pid as number, 'SIGKILL');
    const failed = await slotState(gateway, 'other', 'error');
    expect(reasonOf(failed)).toMatch(/^The engine was killed \(SIGKILL\)/);
    expect((await slotDo(gateway, 'other', 'load')).status).toBe(200);
    expect(said(await say('other'))).toContain('Hello from another program.');
    expect((await slot(gateway, 'other')).pid).not.toBe(pid);
  });

  it('P02 that listens where a stranger does fails, and the stranger is never asked', async () => {
    const answer = await slotDo(gateway, 'elsewhere', 'load');
    expect([answer.status, answer.code]).toEqual([503, 'slot.failed']);
    const reason = 'Another program has taken the port of the engine.';
    expect(reasonOf(await slot(gateway, 'elsewhere'))).toBe(reason);
    expect(met).toBe(0);
  });

  it('that is not installed is named with the way to get it', async () => {
    expect((await slotDo(gateway, 'missing', 'load')).code).toBe('slot.failed');
    const reason = 'The program no-such-program was not found. Install it, or mend command.';
    expect(reasonOf(await slot(gateway, 'missing'))).toBe(reason);
  });

  it('P06: does not outlive a gateway that is killed, at the next start at the latest', async () => {
    await say('other');
    const { pid } = await slot(gateway, 'other');
    await gateway.stop('SIGKILL');
    await gateway.again(() => startGateway({ home }));
    await until(() => !alive(pid as number), 'the engine to be gone');
    expect(said(await say('other'))).toContain('Hello from another program.');
  });
});

describe('an attached server', () => {
  const slotFile = (name: string, text: string) =>
    writeFileSync(join(home, 'config', 'slots', `${name}.toml`), text);
  const known = (name: string) =>
    until(async () => (await ask(gateway, 'GET', `/api/slots/${name}`)).status === 200, `slot ${name}`);
  const ATTACH = 'engine = "custom"\nrunner = "attach"\n';

  it('serves its slot, and letting go of it leaves it running', async () => {
    await say('other');
    const { pid } = await slot(gateway, 'other');
    const words = argvOf(pid as number).split('\0');
    const port = words[words.indexOf('--port') + 1];
    const environ = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    const key = environ.find((entry) => entry.startsWith('ENGINE_KEY='))?.slice('ENGINE_KEY='.length);
    writeFileSync(join(home, 'config', 'api.env'), `UPSTREAM_THEIRS=${key}\n`, { mode: 0o600 });
    slotFile(
      'far',
      `${ATTACH}url = "http://127.0.0.1:${port}"\nkey_env = "UPSTREAM_THEIRS"\nmodel = "far-model"\n`,
    );
    await known('far');
    await until(async () => (await slotDo(gateway, 'far', 'load')).status === 200, 'slot far to load');
    const answer = await say('far');
    expect(said(answer)).toBe('Hello from another program. (far-model)');
    expect(await slot(gateway, 'far')).toMatchObject({ runner: 'attach', device: 'remote', pid: null });
    expect((await slotDo(gateway, 'far', 'unload')).status).toBe(200);
    expect(alive(pid as number)).toBe(true);
  });

  it('that is the gateway itself is refused', async () => {
    slotFile('self', `${ATTACH}url = "http://localhost:${gateway.port}"\nhealth = "/api/health"\n`);
    await known('self');
    expect((await slotDo(gateway, 'self', 'load')).code).toBe('slot.failed');
    expect(reasonOf(await slot(gateway, 'self'))).toBe('The address of url is this gateway itself.');
  });

  it('at a metadata address is no slot at all', async () => {
    slotFile('cloud', `${ATTACH}url = "http://169.254.169.254"\n`);
    await gateway.waitFor('link-local and unspecified addresses are never connected to');
    expect((await ask(gateway, 'GET', '/api/slots/cloud')).status).toBe(404);
  });
});

describe.skipIf(LLAMA === null)('llama-server', () => {
  it('answers a chat under its alias, with a key that nobody sees', async () => {
    const answer = await say('llama');
    expect(said(answer)).toBe('another engine speaks');
    expect(answer.json()).toMatchObject({ model: 'chat', usage: { completion_tokens: expect.any(Number) } });
    const record = await slot(gateway, 'llama');
    expect(record).toMatchObject({ engine: 'llama-server', runner: 'process', device: 'cpu', context: 512 });
    const environ = readFileSync(`/proc/${record.pid}/environ`, 'latin1');
    const key = /LLAMA_API_KEY=([\w-]{43})/.exec(environ)?.[1] ?? '';
    expect(key).toHaveLength(43);
    expect(argvOf(record.pid as number)).not.toContain(key);
    const log = readFileSync(join(home, 'state', 'logs', 'llama.log'), 'utf8');
    expect(log + gateway.output()).not.toContain(key);
  });

  it('embeds a text that fills its window, beyond what one step of the program takes by default', async () => {
    const input = Array.from({ length: 900 }, () => 'a').join(' ');
    const answer = await post('/v1/embeddings', { model: 'embed', input });
    expect(answer.status).toBe(200);
    const { data, usage } = answer.json<{
      data: { embedding: number[] }[];
      usage: { prompt_tokens: number };
    }>();
    expect(data[0]?.embedding).toHaveLength(64);
    expect(usage.prompt_tokens).toBeGreaterThan(512);
    expect((await slot(gateway, 'embed')).engine).toBe('llama-server');
  });

  it('ranks documents, on the path that clients use', async () => {
    const documents = ['quantum flux xylophone', 'the cat sat on the mat', 'a dog barks'];
    const answer = await post('/v1/rerankings', { model: 'rerank', query: 'cat on mat', documents });
    expect(answer.status).toBe(200);
    expect(answer.json<{ results: { index: number }[] }>().results[0]?.index).toBe(1);
  });

  it('without the GPU that its slot asks for is no silent fallback to the CPU', async () => {
    expect((await slotDo(gateway, 'gpu', 'load')).code).toBe('slot.failed');
    expect(reasonOf(await slot(gateway, 'gpu'))).toContain('has no backend for the GPU');
    expect((await slotDo(gateway, 'gpu-2', 'load')).code).toBe('slot.failed');
    expect(reasonOf(await slot(gateway, 'gpu-2'))).toContain('invalid device: Vulkan0');
  });

  it('killed in the middle, fails and comes back', async () => {
    await say('llama');
    const { pid } = await slot(gateway, 'llama');
    process.kill(pid as number, 'SIGKILL');
    expect(reasonOf(await slotState(gateway, 'llama', 'error'))).toContain('SIGKILL');
    expect(said(await say('llama'))).toBe('another engine speaks');
  });
});

describe.skipIf(WHISPER === null)('whisper-server', () => {
  /** One second of silence. */
  function wav(): Buffer {
    const [rate, bytes] = [16_000, 32_000];
    const head = Buffer.alloc(44);
    head.write('RIFF');
    head.writeUInt32LE(36 + bytes, 4);
    head.write('WAVEfmt ', 8);
    for (const [at, value] of [
      [16, 16],
      [24, rate],
      [28, rate * 2],
      [40, bytes],
    ] as const) {
      head.writeUInt32LE(value, at);
    }
    for (const [at, value] of [
      [20, 1],
      [22, 1],
      [32, 2],
      [34, 16],
    ] as const)
      head.writeUInt16LE(value, at);
    head.write('data', 36);
    return Buffer.concat([head, Buffer.alloc(bytes)]);
  }
  function transcribe(audio: Buffer): Promise<Answer> {
    const field = (name: string, more = '') =>
      `--xyz\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
    const body = Buffer.concat([
      Buffer.from(`${field('model')}ear\r\n${field('file', '; filename="a.wav"')}`),
      audio,
      Buffer.from('\r\n--xyz--\r\n'),
    ]);
    const headers = { 'content-type': 'multipart/form-data; boundary=xyz' };
    return ask(gateway, 'POST', '/v1/audio/transcriptions', { body, headers });
  }

  it('transcribes through /v1', async () => {
    const answer = await transcribe(wav());
    expect([answer.status, answer.json<{ text: string }>().text.trim()]).toEqual([200, 'a word in your ear']);
    expect(await slot(gateway, 'ear')).toMatchObject({ engine: 'whisper-server', parallel: 1, model: 'ear' });
  });

  it('its plain text about a file that it cannot read becomes a wrapped error', async () => {
    const answer = await transcribe(Buffer.from('no sound'));
    expect([answer.status, answer.code]).toEqual([415, 'audio.unsupported_format']);
  });
});
