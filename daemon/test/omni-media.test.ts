/** The tool loop with real speech engines and an image stand-in: speech, transcription, images. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import type { GgufModel } from '../models/testing/gguf/writer.ts';
import { send } from './harness/http.ts';
import { slotsOf } from './harness/omni-slots.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { type SdStandIn, sdSlot, sdStandIn } from './harness/sd-stand-in.ts';
import { runSlotAction, waitForSlotState } from './harness/slots.ts';
import { startTones, TONE_TEXT } from './harness/tone-gateway.ts';

const model = (name: string, args: object): GgufModel =>
  tinyChat({ context: 8192, reply: 'It is done now.', runs: false, tool: { name, args: { ...args } } });
const CHATS = {
  agent: model('text_to_speech', { text: TONE_TEXT }),
  painter: model('generate_image', { prompt: 'a llama' }),
  listener: model('transcribe_audio', { file: 'audio_1' }),
};

interface OmniResponse {
  _svc: {
    omni: {
      tools: { name: string; ok: boolean; content: string; attachment?: { data: string; url: string } }[];
    };
  };
}

let sd: SdStandIn;
beforeAll(async () => {
  sd = await sdStandIn();
});
afterAll(() => sd?.stop());

const gateway = new OneGateway(() => {
  const { models, files } = slotsOf(8192, CHATS);
  return startTones({ models, files: { ...files, 'config/slots/img.toml': sdSlot(sd.url) } });
});
beforeAll(async () => {
  for (const name of ['tts', 'stt', 'img']) {
    await runSlotAction(gateway, name, 'load');
    await waitForSlotState(gateway, name, 'ready');
  }
});

const chat = async (name: string, content: unknown): Promise<OmniResponse> => {
  const body = { model: name, omni: true, messages: [{ role: 'user', content }], max_tokens: 256 };
  return (
    await send(gateway, 'POST', '/v1/chat/completions', { body, idleTimeoutMs: 60_000 })
  ).json<OmniResponse>();
};

it('speech is returned as audio, which another model transcribes from a message', async () => {
  const [spoken] = (await chat('agent', 'speak'))._svc.omni.tools;
  expect(spoken).toMatchObject({ name: 'text_to_speech', ok: true });
  const data = spoken?.attachment?.data ?? '';
  expect(Buffer.from(data, 'base64').toString('latin1', 0, 4)).toBe('RIFF');
  expect(spoken?.content).not.toContain(data);
  const parts = [
    { type: 'text', text: 'What is said here?' },
    { type: 'input_audio', input_audio: { format: 'wav', data } },
  ];
  const [transcribed] = (await chat('listener', parts))._svc.omni.tools;
  expect(transcribed).toMatchObject({ name: 'transcribe_audio', ok: true });
  expect(transcribed?.content.toLowerCase()).toContain('good morning');
});

it('an image is drawn, and its address returns it', async () => {
  const [drawn] = (await chat('painter', 'draw'))._svc.omni.tools;
  expect(drawn).toMatchObject({ name: 'generate_image', ok: true, attachment: { kind: 'image' } });
  const url = drawn?.attachment?.url ?? '';
  expect(url).toMatch(/^\/api\/images\/cache\/[0-9a-f-]{36}\.png$/);
  const png = await send(gateway, 'GET', url);
  expect([png.status, png.headers['content-type']]).toEqual([200, 'image/png']);
});
