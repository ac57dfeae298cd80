/** Raw responses of the audio and image routes against the schemas that OpenAI publishes: real engines except for images. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recording } from './harness/disconnecting-client.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { type SdStandIn, sdSlot, sdStandIn } from './harness/sd-stand-in.ts';
import { dataOf } from './harness/stream.ts';
import { startTones, TONE_TEXT } from './harness/tone-gateway.ts';
import { breaches, extensions } from './openai-schemas/validate.ts';

const SPEECH = '/v1/audio/speech';
const IMAGES = '/v1/images/generations';
let sd: SdStandIn;
let sound: Buffer;

beforeAll(async () => {
  sd = await sdStandIn();
});
afterAll(() => sd?.stop());
const gateway = new OneGateway(() => startTones({ files: { 'config/slots/img.toml': sdSlot(sd.url) } }));
beforeAll(async () => {
  const response = await fetch(gateway.url + SPEECH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts', input: TONE_TEXT, response_format: 'wav' }),
  });
  expect(response.status).toBe(200);
  sound = Buffer.from(await response.arrayBuffer());
});

/** Requests a transcript; `fields` precede the recording in the form. */
async function transcribe(fields: Record<string, string> = {}) {
  const { type, bytes } = recording('stt', sound);
  const more = Object.entries(fields).map(
    ([name, value]) => `--xyz\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const body = Buffer.concat([Buffer.from(more.join('')), bytes]);
  const response = await send(gateway, 'POST', '/v1/audio/transcriptions', {
    body,
    headers: { 'content-type': type },
  });
  expect([response.status, response.text]).toEqual([200, expect.any(String)]);
  return response;
}

describe('transcripts (tone)', () => {
  it('json', async () => {
    const response = (await transcribe()).json();
    expect(breaches('CreateTranscriptionResponseJson', response)).toEqual([]);
    expect(extensions('CreateTranscriptionResponseJson', response)).toEqual([]);
  });

  it.each(['segment', 'word'])('verbose_json, by %s', async (by) => {
    const response = (
      await transcribe({ response_format: 'verbose_json', 'timestamp_granularities[]': by })
    ).json();
    // Probabilities that the model does not report are absent.
    expect(breaches('CreateTranscriptionResponseVerboseJson', response)).toEqual(
      ['avg_logprob', 'no_speech_prob'].map((name) => `/segments/0 must have required property '${name}'`),
    );
    // OpenAI sends the task too; its schema omits it.
    expect(extensions('CreateTranscriptionResponseVerboseJson', response)).toEqual(['task']);
  });

  it('every event of a stream', async () => {
    const events = dataOf((await transcribe({ stream: 'true' })).text).map(
      (data) => JSON.parse(data) as object,
    );
    expect(events.length).toBeGreaterThan(1);
    for (const event of events)
      expect(breaches('CreateTranscriptionResponseStreamEvent', event), JSON.stringify(event)).toEqual([]);
  });
});

it('every event of streamed speech (tone)', async () => {
  const body = { model: 'tts', input: TONE_TEXT, response_format: 'wav', stream_format: 'sse' };
  const response = await send(gateway, 'POST', SPEECH, { body });
  const events = dataOf(response.text).map((data) => JSON.parse(data) as { type: string });
  expect(events.at(-1)?.type).toBe('speech.audio.done');
  for (const event of events) expect(breaches('CreateSpeechResponseStreamEvent', event)).toEqual([]);
});

it.each(['url', 'b64_json'])('images as %s (stand-in)', async (response_format) => {
  const body = { model: 'sd15', prompt: 'a cat', size: '64x64', n: 2, response_format };
  const response = await send(gateway, 'POST', IMAGES, { body });
  expect([response.status, response.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
  expect(breaches('ImagesResponse', response.json())).toEqual([]);
  expect(extensions('ImagesResponse', response.json())).toEqual(['_svc']);
});

it('errors', async () => {
  for (const [path, body] of [
    [SPEECH, { input: 'x' }],
    [IMAGES, { model: 'sd15' }],
    [IMAGES, { model: 'dall-e-3', prompt: 'x' }],
  ] as const) {
    const response = await send(gateway, 'POST', path, { body });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(breaches('ErrorResponse', response.json()), response.text).toEqual([]);
  }
});
