/** Raw answers of the sound and image routes against the schemas that OpenAI publishes: real engines but for the one that draws. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recording } from './harness/disconnecting-client.ts';
import { ask } from './harness/http.ts';
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
afterAll(() => sd?.down());
const gateway = new OneGateway(() => startTones({ files: { 'config/slots/img.toml': sdSlot(sd.url) } }));
beforeAll(async () => {
  const answer = await fetch(gateway.url + SPEECH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts', input: TONE_TEXT, response_format: 'wav' }),
  });
  expect(answer.status).toBe(200);
  sound = Buffer.from(await answer.arrayBuffer());
});

/** Asks for a transcript; `fields` stand before the recording in the form. */
async function heard(fields: Record<string, string> = {}) {
  const { type, bytes } = recording('stt', sound);
  const more = Object.entries(fields).map(
    ([name, value]) => `--xyz\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const body = Buffer.concat([Buffer.from(more.join('')), bytes]);
  const answer = await ask(gateway, 'POST', '/v1/audio/transcriptions', {
    body,
    headers: { 'content-type': type },
  });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer;
}

describe('transcripts (tone)', () => {
  it('json', async () => {
    const answer = (await heard()).json();
    expect(breaches('CreateTranscriptionResponseJson', answer)).toEqual([]);
    expect(extensions('CreateTranscriptionResponseJson', answer)).toEqual([]);
  });

  it.each(['segment', 'word'])('verbose_json, by %s', async (by) => {
    const answer = (await heard({ response_format: 'verbose_json', 'timestamp_granularities[]': by })).json();
    expect(breaches('CreateTranscriptionResponseVerboseJson', answer)).toEqual([]);
    // OpenAI sends the task too; its description forgets it.
    expect(extensions('CreateTranscriptionResponseVerboseJson', answer)).toEqual(['task']);
  });

  it('every event of a stream', async () => {
    const events = dataOf((await heard({ stream: 'true' })).text).map((data) => JSON.parse(data) as object);
    expect(events.length).toBeGreaterThan(1);
    for (const event of events)
      expect(breaches('CreateTranscriptionResponseStreamEvent', event), JSON.stringify(event)).toEqual([]);
  });
});

it('every event of spoken sound (tone)', async () => {
  const body = { model: 'tts', input: TONE_TEXT, response_format: 'wav', stream_format: 'sse' };
  const answer = await ask(gateway, 'POST', SPEECH, { body });
  const events = dataOf(answer.text).map((data) => JSON.parse(data) as { type: string });
  expect(events.at(-1)?.type).toBe('speech.audio.done');
  for (const event of events) expect(breaches('CreateSpeechResponseStreamEvent', event)).toEqual([]);
});

it.each(['url', 'b64_json'])('pictures as %s (stand-in)', async (response_format) => {
  const body = { model: 'sd15', prompt: 'a cat', size: '64x64', n: 2, response_format };
  const answer = await ask(gateway, 'POST', IMAGES, { body });
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
  expect(breaches('ImagesResponse', answer.json())).toEqual([]);
  expect(extensions('ImagesResponse', answer.json())).toEqual(['_svc']);
});

it('errors', async () => {
  for (const [path, body] of [
    [SPEECH, { input: 'x' }],
    [IMAGES, { model: 'sd15' }],
    [IMAGES, { model: 'dall-e-3', prompt: 'x' }],
  ] as const) {
    const answer = await ask(gateway, 'POST', path, { body });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(breaches('ErrorResponse', answer.json()), answer.text).toEqual([]);
  }
});
