/** The tool loop with real voices and a stand-in that draws: spoken, written down, drawn. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tinyChat } from '../models/gguf/tiny-chat.ts';
import { encodeGguf, type GgufModel } from '../models/gguf/writer.ts';
import type { Gateway } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { type SdStandIn, sdStandIn } from './harness/sd-stand-in.ts';
import { slotState } from './harness/tiny-gateway.ts';
import { startTones, TONE_TEXT } from './harness/tone-gateway.ts';

const model = (name: string, args: object): GgufModel =>
  tinyChat({ context: 8192, reply: 'It is done now.', runs: false, tool: { name, args: { ...args } } });
const SLOTS: Record<string, GgufModel> = {
  agent: model('text_to_speech', { text: TONE_TEXT }),
  painter: model('generate_image', { prompt: 'a llama' }),
  listener: model('transcribe_audio', { file: 'audio_1' }),
};

interface Told {
  _svc: {
    omni: {
      tools: { name: string; ok: boolean; content: string; attachment?: { data: string; url: string } }[];
    };
  };
}

let home: string;
let gateway: Gateway;
let sd: SdStandIn;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const models = join(home, 'state', 'models');
  mkdirSync(models, { recursive: true, mode: 0o700 });
  const files: Record<string, string> = {};
  for (const [name, made] of Object.entries(SLOTS)) {
    writeFileSync(join(models, `${name}-model.gguf`), encodeGguf(made));
    files[`config/slots/${name}.toml`] = `model = "${name}-model"\ncontext = 8192\nautoload = false\n`;
  }
  sd = await sdStandIn();
  files['config/slots/img.toml'] =
    `type = "image"\nengine = "sd-server"\nrunner = "attach"\nurl = "${sd.url}"\nautoload = false\nmodel = "v1-5-pruned-emaonly"\n`;
  gateway = await startTones({ home, files });
  for (const name of ['tts', 'stt', 'img']) {
    await ask(gateway, 'POST', `/api/slots/${name}/load`, { body: {}, silenceMs: 60_000 });
    await slotState(gateway, name, 'ready');
  }
});

afterAll(async () => {
  await gateway?.stop();
  await sd?.down();
  rmSync(home, { recursive: true, force: true });
});

const chat = async (name: string, content: unknown): Promise<Told> => {
  const body = { model: name, omni: true, messages: [{ role: 'user', content }], max_tokens: 256 };
  return (await ask(gateway, 'POST', '/v1/chat/completions', { body, silenceMs: 60_000 })).json<Told>();
};

it('what is spoken comes as a sound, which another model understands from a message', async () => {
  const [spoken] = (await chat('agent', 'speak'))._svc.omni.tools;
  expect(spoken).toMatchObject({ name: 'text_to_speech', ok: true });
  const data = spoken?.attachment?.data ?? '';
  expect(Buffer.from(data, 'base64').toString('latin1', 0, 4)).toBe('RIFF');
  expect(spoken?.content).not.toContain(data);
  const parts = [
    { type: 'text', text: 'What is said here?' },
    { type: 'input_audio', input_audio: { format: 'wav', data } },
  ];
  const [heard] = (await chat('listener', parts))._svc.omni.tools;
  expect(heard).toMatchObject({ name: 'transcribe_audio', ok: true });
  expect(heard?.content.toLowerCase()).toContain('good morning');
});

it('a picture is drawn, and its address leads to it', async () => {
  const [drawn] = (await chat('painter', 'draw'))._svc.omni.tools;
  expect(drawn).toMatchObject({ name: 'generate_image', ok: true, attachment: { kind: 'image' } });
  const url = drawn?.attachment?.url ?? '';
  expect(url).toMatch(/^\/api\/images\/cache\/[0-9a-f-]{36}\.png$/);
  const png = await ask(gateway, 'GET', url);
  expect([png.status, png.headers['content-type']]).toEqual([200, 'image/png']);
});
