/** The tool loop with real voices: a text is spoken, and a recording in a message is written down. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tinyChat } from '../models/gguf/tiny-chat.ts';
import { encodeGguf, type GgufModel } from '../models/gguf/writer.ts';
import type { Gateway } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { slotState } from './harness/tiny-gateway.ts';
import { startTones, TONE_TEXT } from './harness/tone-gateway.ts';

const model = (name: string, args: object): GgufModel =>
  tinyChat({ context: 8192, reply: 'It is done now.', runs: false, tool: { name, args: { ...args } } });
const SLOTS: Record<string, GgufModel> = {
  agent: model('text_to_speech', { text: TONE_TEXT }),
  listener: model('transcribe_audio', { file: 'audio_1' }),
};

interface Told {
  _svc: { omni: { tools: { name: string; ok: boolean; content: string; attachment?: { data: string } }[] } };
}

let home: string;
let gateway: Gateway;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const models = join(home, 'state', 'models');
  mkdirSync(models, { recursive: true, mode: 0o700 });
  const files: Record<string, string> = {};
  for (const [name, made] of Object.entries(SLOTS)) {
    writeFileSync(join(models, `${name}-model.gguf`), encodeGguf(made));
    files[`config/slots/${name}.toml`] = `model = "${name}-model"\ncontext = 8192\nautoload = false\n`;
  }
  gateway = await startTones({ home, files });
  for (const name of ['tts', 'stt']) {
    await ask(gateway, 'POST', `/api/slots/${name}/load`, { body: {}, silenceMs: 60_000 });
    await slotState(gateway, name, 'ready');
  }
});

afterAll(async () => {
  await gateway?.stop();
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
