/** Transcription over a real port: the official `openai` client, real sherpa-onnx with a tone recogniser, uploads of any size. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type OpenAI from 'openai';
import { APIError, BadRequestError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { wavHeader } from '../lib/media/pcm.ts';
import { failure } from './harness/failure.ts';
import { until } from './harness/gateway.ts';
import { type HttpResponse, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openaiClient } from './harness/openai.ts';
import { slot, waitForIdleSlot } from './harness/slots.ts';
import { startTones, TONE_TEXT, unlinkedSpoolFiles } from './harness/tone-gateway.ts';

const PATH = '/v1/audio/transcriptions';
const MIB = 1 << 20;
const TYPE = 'multipart/form-data; boundary=xyz';

let openai: OpenAI;
/** Speech of the tone voice. */
let sound: Buffer;

const gateway = new OneGateway(startTones);
beforeAll(async () => {
  openai = openaiClient(gateway);
  const order = { model: 'tts', input: TONE_TEXT, voice: '1', response_format: 'wav' } as const;
  sound = Buffer.from(await (await openai.audio.speech.create(order)).arrayBuffer());
});

const file = (bytes = sound, name = 'a.wav') => new File([new Uint8Array(bytes)], name);
const field = (name: string, value: string) =>
  Buffer.from(`--xyz\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
const fileHead = Buffer.from(
  '--xyz\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
);
const END = Buffer.from('\r\n--xyz--\r\n');
const post = (body: Buffer, type = TYPE) =>
  send(gateway, 'POST', PATH, { body, headers: { 'content-type': type } });
const textOf = (response: HttpResponse) => response.json<{ text: string }>().text;

describe('the official client', () => {
  it('json', async () => {
    const transcript = await openai.audio.transcriptions.create({ file: file(), model: 'tone-ear' });
    expect(transcript).toMatchObject({ text: TONE_TEXT, usage: { type: 'duration', seconds: 3 } });
  });

  it.each(['text', 'srt', 'vtt'] as const)('%s', async (response_format) => {
    const transcript = await openai.audio.transcriptions.create({
      file: file(),
      model: 'stt',
      response_format,
    });
    expect(transcript).toContain(TONE_TEXT);
    if (response_format === 'vtt') expect(transcript).toMatch(/^WEBVTT\n/);
    if (response_format === 'srt') expect(transcript).toMatch(/^1\n00:00:00,000 --> 00:00:03,000\n/);
  });

  it('verbose_json', async () => {
    const transcript = await openai.audio.transcriptions.create({
      file: file(),
      model: 'svc/stt',
      response_format: 'verbose_json',
      timestamp_granularities: ['segment'],
    });
    expect(transcript).toMatchObject({
      duration: 3,
      text: TONE_TEXT,
      segments: [{ id: 0, start: 0, end: 3 }],
    });
  });

  it('as a stream', async () => {
    const stream = await openai.audio.transcriptions.create({ file: file(), model: 'stt', stream: true });
    const events: OpenAI.Audio.TranscriptionStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['transcript.text.delta', 'transcript.text.done']);
    expect(events.at(-1)).toMatchObject({ text: TONE_TEXT });
  });
});

describe('the model is read from the raw bytes', () => {
  it.each([
    ['before the file', [field('model', 'stt'), fileHead, 'SOUND']],
    ['after the file', [fileHead, 'SOUND', Buffer.from('\r\n'), field('model', 'stt')]],
  ] as const)('%s', async (_, parts) => {
    const body = Buffer.concat([...parts.map((part) => (part === 'SOUND' ? sound : part)), END]);
    const response = await post(body);
    expect([response.status, response.headers['x-svc-slot'], textOf(response)]).toEqual([
      200,
      'stt',
      TONE_TEXT,
    ]);
  });

  it.each([
    ['without a model', Buffer.concat([fileHead, Buffer.from('x'), END]), 400, 'request.missing_model'],
    ['with a blank model', Buffer.concat([field('model', '  '), END]), 400, 'request.missing_model'],
    ['cut off', field('model', 'stt').subarray(0, -8), 400, 'request.missing_model'],
    [
      'with two models',
      Buffer.concat([field('model', 'a'), field('model', 'b'), END]),
      422,
      'request.invalid',
    ],
    ['for a chat model', Buffer.concat([field('model', 'agent'), END]), 409, 'dispatch.capability_mismatch'],
    ['without a file', Buffer.concat([field('model', 'stt'), END]), 422, 'request.invalid'],
  ])('%s', async (_, body, status, code) => {
    const response = await post(body);
    expect([response.status, response.code]).toEqual([status, code]);
  });

  it('the official client gets the code of a missing model', async () => {
    const error = await failure(
      openai.audio.transcriptions.create({ file: file(), model: '' }),
      BadRequestError,
    );
    expect(error.code).toBe('request.missing_model');
  });

  it('a form without a boundary is 400, as one without a model', async () => {
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary='])
      expect(await post(Buffer.from('--x'), type)).toMatchObject({
        status: 400,
        code: 'request.missing_model',
      });
  });

  it('another content type is 415', async () => {
    expect((await post(Buffer.from('{}'), 'application/json')).code).toBe('request.unsupported_type');
  });

  it.each([
    ['noise', Buffer.alloc(20_000, 'this is no sound at all ')],
    ['nothing', Buffer.alloc(0)],
  ])(
    'the error for %s as a recording has the status of the engine and the supported formats',
    async (_, sound) => {
      const error = await failure(
        openai.audio.transcriptions.create({ file: file(sound, 'a.mp3'), model: 'stt' }),
        APIError,
      );
      expect([error.status, error.code]).toEqual([415, 'audio.unsupported_format']);
      expect(error.error).toMatchObject({ details: { upstream_status: 415 } });
      expect(error.message).toMatch(/wav, mp3, flac, ogg, m4a(,| and) webm/);
    },
  );

  it('B12 an undecodable file is 415 with the message of the specification, without internal details', async () => {
    const noise = file(Buffer.alloc(20_000, 'this is no sound at all '), 'a.mp3');
    const error = await failure(openai.audio.transcriptions.create({ file: noise, model: 'stt' }), APIError);
    expect([error.status, error.code]).toEqual([415, 'audio.unsupported_format']);
    expect(error.message).toMatch(/wav, mp3, flac, ogg, m4a(,| and) webm/);
    expect(JSON.stringify(error.error)).not.toMatch(/ffmpeg|exit|\/proc|Invalid data/i);
  });
});

/** Resident memory of the gateway in MiB. */
const resident = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) / 1024;

/** A form of `size` MiB whose audio follows a large junk chunk. */
function* largeForm(size: number, modelFirst: boolean): Generator<Buffer> {
  const filler = Buffer.alloc(MIB, 0x20);
  const junk = Buffer.alloc(8);
  junk.write('JUNK', 'latin1');
  junk.writeUInt32LE(size * MIB, 4);
  const riff = wavHeader(16_000, null).subarray(0, 12);
  if (modelFirst) yield field('model', 'stt');
  yield fileHead;
  yield Buffer.concat([riff, junk]);
  for (let at = 0; at < size; at++) yield filler;
  yield sound.subarray(12);
  if (!modelFirst) yield Buffer.concat([Buffer.from('\r\n'), field('model', 'stt')]);
  yield END;
}

/** Sends a form. Returns the response and the peak growth of the gateway's memory in MiB. */
async function sendLarge(
  size: number,
  modelFirst: boolean,
): Promise<{ response: HttpResponse; grown: number }> {
  const before = resident();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, resident());
  }, 20);
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
  const length = [...largeForm(size, modelFirst)].reduce((sum, part) => sum + part.length, 0);
  const headers = { 'content-type': TYPE, 'content-length': String(length) };
  const sending = httpRequest({ port: gateway.port, method: 'POST', path: PATH, headers }, (res) => {
    let text = '';
    res.setEncoding('utf8');
    res.on('data', (chunk: string) => {
      text += chunk;
    });
    res.on('end', () => {
      const json = <T>() => JSON.parse(text) as T;
      resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json, code: undefined });
    });
  });
  sending.on('error', reject);
  Readable.from(largeForm(size, modelFirst)).pipe(sending);
  const response = await promise.finally(() => clearInterval(timer));
  return { response, grown: peak - before };
}

describe('large recordings', () => {
  it.each([
    [25, true],
    [198, false],
  ])(
    '%i MiB (model first: %s) are transcribed, and the memory of the gateway does not grow',
    async (size, modelFirst) => {
      // The first upload allocates memory that later ones reuse.
      await sendLarge(size, modelFirst);
      const { response, grown } = await sendLarge(size, modelFirst);
      expect([response.status, response.text && textOf(response)]).toEqual([200, TONE_TEXT]);
      // MiB: uncollected garbage, less than half of the uploaded size.
      expect(grown).toBeLessThan(80);
      await until(() => unlinkedSpoolFiles(gateway.pid).length === 0, 'the spool file to be removed');
      expect(readdirSync(join(gateway.home, 'state', 'spool'))).toEqual([]);
    },
  );

  it('a disconnect during an upload leaves nothing behind', async () => {
    const headers = { 'content-type': TYPE, 'content-length': String(50 * MIB) };
    const sending = httpRequest({ port: gateway.port, method: 'POST', path: PATH, headers });
    sending.on('error', () => {});
    sending.write(Buffer.concat([fileHead, Buffer.alloc(8 * MIB)]));
    await until(() => unlinkedSpoolFiles(gateway.pid).length === 1, 'the recording to be stored');
    sending.destroy();
    await until(() => unlinkedSpoolFiles(gateway.pid).length === 0, 'the spool file to be removed');
  });

  it('a second model after the recording is rejected', async () => {
    const body = Buffer.concat([
      ...[field('model', 'stt'), fileHead, Buffer.alloc(8 * MIB), Buffer.from('\r\n')],
      ...[field('model', 'other'), END],
    ]);
    const response = await post(body);
    expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
    await waitForIdleSlot(gateway, 'stt');
    expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
  });

  it('a disconnect during the transcription ends it', async () => {
    const minutes = Buffer.concat(Array.from({ length: 200 }, () => sound.subarray(44)));
    const body = Buffer.concat([
      ...[field('model', 'stt'), fileHead, wavHeader(16_000, minutes.length), minutes, END],
    ]);
    const headers = { 'content-type': TYPE, 'content-length': String(body.length) };
    const sending = httpRequest({ port: gateway.port, method: 'POST', path: PATH, headers });
    sending.on('error', () => {});
    sending.end(body);
    await until(async () => (await slot(gateway, 'stt')).active === 1, 'the transcription to start');
    sending.destroy();
    await waitForIdleSlot(gateway, 'stt');
  });
});

it('files left by a killed gateway are removed at the next start', async () => {
  const leftover = 'ab'.repeat(12);
  writeFileSync(join(gateway.home, 'state', 'spool', leftover), 'left');
  const { home } = gateway;
  await gateway.stop();
  await gateway.replace(() => startTones({ home }));
  await until(() => !readdirSync(join(home, 'state', 'spool')).includes(leftover), 'the cleanup');
});
