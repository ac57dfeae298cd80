/** Speech over a real port: the official `openai` client, real sherpa-onnx with a tone voice, real espeak-ng, real ffmpeg. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { UnprocessableEntityError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeToneVoice } from '../models/onnx/testing/tone-folders.ts';
import { descendants } from './harness/descendants.ts';
import { failure } from './harness/failure.ts';
import { type Gateway, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { forTest, OneGateway } from './harness/one-gateway.ts';
import { openaiClient } from './harness/openai.ts';
import { slot, slots, waitForIdleSlot, waitForSlotState } from './harness/slots.ts';
import { dataOf, openStream } from './harness/stream.ts';
import { findProgram, startTones, TONE_TEXT } from './harness/tone-gateway.ts';

const SPEECH = '/v1/audio/speech';
const FFMPEG = findProgram('ffmpeg');
const NO_FFMPEG = 'ffmpeg is not installed; that case is tested in the unit test of the speech plan';
/** A quarter of an hour of speech. */
const LONG = 'This is one sentence of a story that goes on from start to end. '.repeat(100);

let openai: OpenAI;

const gateway = new OneGateway(startTones);
beforeAll(async () => {
  openai = openaiClient(gateway);
});

async function speak(
  body: object,
  to: Gateway = gateway,
): Promise<{ status: number; type: string | null; bytes: Buffer }> {
  const response = await fetch(to.url + SPEECH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), bytes };
}

async function transcribe(sound: Buffer, name = 'a.wav'): Promise<string> {
  const file = new File([new Uint8Array(sound)], name);
  return (await openai.audio.transcriptions.create({ file, model: 'tone-ear' })).text;
}

const programs = () => descendants(gateway.pid).filter(({ argv }) => /ffmpeg|espeak-ng\0--stdin/.test(argv));

describe('voices and models', () => {
  it('the voice is slot tts, the recogniser is slot stt, and listing loads neither', async () => {
    const summary = (await slots(gateway)).map(({ name, type, engine, model, state }) => [
      name,
      type,
      engine,
      model,
      state,
    ]);
    expect(summary).toEqual(
      expect.arrayContaining([
        ['stt', 'stt', 'speech', 'tone-ear', 'offline'],
        ['tts', 'tts', 'speech', 'tone-voice', 'offline'],
      ]),
    );
    const voices = (await send(gateway, 'GET', '/v1/audio/voices')).json();
    expect(voices).toMatchObject({
      voices: [
        { id: '0', name: '0', model: 'tone-voice', sample: expect.stringMatching(/voice/) },
        { id: '1', name: '1', model: 'tone-voice' },
      ],
    });
    expect((await send(gateway, 'GET', '/v1/audio/voices?model=agent')).json()).toEqual({ voices: [] });
    const { models } = (await send(gateway, 'GET', '/v1/audio/models')).json<{ models: { id: string }[] }>();
    expect(models.map(({ id }) => id)).toEqual(['tone-voice', 'tts', 'svc/tts']);
    expect((await slot(gateway, 'tts')).state).toBe('offline');
  });
});

describe('tone voice, spoken and transcribed again', () => {
  it('the official client gets back the exact sentence', async () => {
    const response = await openai.audio.speech.create({
      model: 'tone-voice',
      input: TONE_TEXT,
      voice: 'alloy',
      response_format: 'wav',
    });
    expect(response.headers.get('x-svc-slot')).toBe('tts');
    expect(await transcribe(Buffer.from(await response.arrayBuffer()))).toBe(TONE_TEXT);
  });

  it.each(['tts', 'svc/tts', 'tts-1'])('under the name %s', async (model) => {
    const { status, bytes } = await speak({ model, input: TONE_TEXT, response_format: 'wav' });
    expect([status, await transcribe(bytes)]).toEqual([200, TONE_TEXT]);
  });

  it.for([
    ['mp3', 'audio/mpeg', (bytes: Buffer) => bytes.toString('latin1', 0, 3) === 'ID3'],
    ['opus', 'audio/ogg', (bytes: Buffer) => bytes.includes('OpusHead')],
    ['aac', 'audio/aac', (bytes: Buffer) => bytes.readUInt16BE(0) >> 4 === 0xfff],
    ['flac', 'audio/flac', (bytes: Buffer) => bytes.toString('latin1', 0, 4) === 'fLaC'],
    ['wav', 'audio/wav', (bytes: Buffer) => bytes.toString('latin1', 0, 4) === 'RIFF'],
    ['pcm', 'audio/pcm', (bytes: Buffer) => bytes.length === 24_000 * 2 * 3],
  ] as const)('as %s, with the right length and words', async ([format, type, magic], { skip }) => {
    const speech = await speak({ model: 'tts', input: TONE_TEXT, response_format: format });
    if (FFMPEG === null && !['wav', 'pcm'].includes(format)) {
      expect(speech.status).toBe(422);
      return skip(NO_FFMPEG);
    }
    expect([speech.status, speech.type, magic(speech.bytes)]).toEqual([200, type, true]);
    expect(await transcribe(speech.bytes, `a.${format}`)).toBe(TONE_TEXT);
    if (FFMPEG === null || format === 'pcm') return;
    const wanted = ['-loglevel', 'error', '-i', 'pipe:0', '-f', 's16le', '-ar', '16000', 'pipe:1'];
    const decoded = execFileSync(FFMPEG, wanted, { input: speech.bytes });
    expect(decoded.length / 32_000).toBeGreaterThan(2.9);
    expect(decoded.length / 32_000).toBeLessThan(3.3);
  });

  it('without a format it is mp3 when possible, else wav', async () => {
    const { type } = await speak({ model: 'tts', input: TONE_TEXT, response_format: null });
    expect(type).toBe(FFMPEG === null ? 'audio/wav' : 'audio/mpeg');
  });

  it('as events', async () => {
    const stream = await openStream(gateway, SPEECH, {
      model: 'tts',
      input: 'The first sentence is here. The second one follows it.',
      response_format: 'wav',
      stream_format: 'sse',
    });
    expect(stream.headers['content-type']).toBe('text/event-stream');
    expect(await stream.ended).toBe(true);
    const events = dataOf(stream.text()).map((data) => JSON.parse(data));
    expect(events.at(-1)).toEqual({
      type: 'speech.audio.done',
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    });
    const deltas = events.slice(0, -1);
    expect(deltas.every(({ type }) => type === 'speech.audio.delta')).toBe(true);
    const sound = Buffer.concat(deltas.map(({ audio }) => Buffer.from(audio, 'base64')));
    expect(await transcribe(sound)).toBe('the first sentence is here. the second one follows it.');
  });
});

describe('invalid requests', () => {
  it.each([
    [{ input: 'x' }, 400, 'request.missing_model'],
    [{ model: '', input: 'x' }, 400, 'request.missing_model'],
    [{ model: '  ', input: 'x' }, 400, 'request.missing_model'],
    [{ model: null, input: 'x' }, 400, 'request.missing_model'],
    [{}, 400, 'request.missing_model'],
    [{ model: ' ', input: 7 }, 400, 'request.missing_model'],
    [{ input: 'x', stream_format: 'chunks' }, 400, 'request.missing_model'],
    [{ model: 7, input: 'x' }, 422, 'request.invalid'],
    [{ model: 'tts' }, 422, 'request.invalid'],
    [{ model: 'tts', input: '' }, 422, 'request.invalid'],
    [{ model: 'tts', input: 'x', speed: 5 }, 422, 'request.invalid'],
    [{ model: 'tts', input: 'x', response_format: 'ogg' }, 422, 'request.invalid'],
    [{ model: 'tts', input: 'x', stream_format: 'chunks' }, 422, 'request.invalid'],
    [{ model: 'agent', input: 'x' }, 409, 'dispatch.capability_mismatch'],
    [{ model: 'stt', input: 'x' }, 409, 'dispatch.capability_mismatch'],
  ])('%j', async (body, status, code) => {
    const response = await send(gateway, 'POST', SPEECH, { body });
    expect([response.status, response.code]).toEqual([status, code]);
  });

  it('the error for an unknown voice lists the voices, also with a conversion', async () => {
    const params = { model: 'tts', input: 'x', voice: 'no-such-voice', response_format: 'mp3' } as const;
    const error = await failure(openai.audio.speech.create(params), UnprocessableEntityError);
    if (FFMPEG !== null)
      expect([error.param, error.message]).toEqual(['voice', expect.stringContaining('available: 0, 1')]);
  });
});

describe('a disconnect', () => {
  it.each(['wav', ...(FFMPEG === null ? [] : ['mp3', 'opus'])])(
    'ends the synthesis of %s and its programs',
    async (format) => {
      const stream = await openStream(gateway, SPEECH, {
        model: 'tts',
        input: LONG,
        response_format: format,
      });
      expect(stream.status).toBe(200);
      await until(() => stream.text().length > 0, 'the first sound');
      expect((await slot(gateway, 'tts')).active).toBeGreaterThan(0);
      stream.disconnect();
      await waitForIdleSlot(gateway, 'tts');
      await until(() => programs().length === 0, 'its programs to end');
    },
  );
});

describe('the voice defaults of a slot', () => {
  const own = new OneGateway(() => {
    const file = '[voice]\nvoice = "1"\nspeed = 2.0\nresponse_format = "wav"\n';
    return startTones({ files: { 'config/slots/tts.toml': file } });
  });
  const rate = (sound: Buffer) => sound.length;
  const peak = (sound: Buffer) => {
    let highest = 0;
    for (let at = 44; at + 1 < sound.length; at += 2) highest = Math.max(highest, sound.readInt16LE(at));
    return highest;
  };

  it('apply to omitted parameters only', async () => {
    const base = { model: 'tts', input: TONE_TEXT };
    const filled = await speak(base, own);
    expect(filled.type).toBe('audio/wav');
    const explicit = await speak({ ...base, voice: '0', speed: 1, response_format: 'wav' }, own);
    expect(peak(filled.bytes) / peak(explicit.bytes)).toBeCloseTo(2, 1);
    expect(rate(explicit.bytes)).toBeGreaterThan(rate(filled.bytes) * 1.7);
    const half = await speak({ ...base, voice: '0', speed: null }, own);
    expect(peak(half.bytes)).toBe(peak(explicit.bytes));
    expect(rate(half.bytes)).toBe(rate(filled.bytes));
  });

  it('an unknown voice is reported as a problem of the file', async () => {
    const problems = async () =>
      (await send(own, 'GET', '/api/slots/tts/settings')).json<{ problems: { message: string }[] }>()
        .problems;
    expect(await problems()).toEqual([]);
    await send(own, 'PUT', '/api/slots/tts', { body: { voice: { voice: 'nosuch' } } });
    const message = 'voice.voice: there is no voice "nosuch"; available: 0, 1';
    expect(await problems()).toEqual([{ line: 1, message }]);
    await send(own, 'PUT', '/api/slots/tts', { body: { voice: { voice: '1' } } });
    expect(await problems()).toEqual([]);
  });

  it('an engine that dies truncates the audio, and ends events with an error', async () => {
    for (const events of [false, true]) {
      const input = LONG.repeat(9);
      const { pid } = await slot(own, 'tts');
      const stream = await openStream(own, SPEECH, {
        model: 'tts',
        input,
        stream_format: events ? 'sse' : 'audio',
      });
      await until(() => stream.text().length > 0, 'the first sound');
      if (pid === null) throw new Error('the slot has no engine');
      process.kill(pid, 'SIGKILL');
      expect(await stream.ended).toBe(events);
      if (events) expect(JSON.parse(dataOf(stream.text()).at(-1) ?? '')).toHaveProperty('error.code');
      await waitForSlotState(own, 'tts', 'error');
      await send(own, 'POST', '/api/slots/tts/load');
      await waitForSlotState(own, 'tts', 'ready');
    }
  });

  it('a voice whose files are broken is an error with a reason, and the gateway continues', async () => {
    const folder = writeToneVoice(join(own.home, 'state', 'models', 'broken-voice'));
    writeFileSync(join(folder, 'tokens.txt'), 'nonsense without numbers\n');
    own.signal('SIGHUP');
    await until(async () => (await slot(own, 'broken-voice')).name === 'broken-voice', 'the new slot');
    const response = await send(own, 'POST', SPEECH, { body: { model: 'broken-voice', input: 'x' } });
    expect([response.status, response.code]).toEqual([503, 'slot.failed']);
    const { failure: cause } = await slot(own, 'broken-voice');
    expect(cause?.reason.length).toBeGreaterThan(10);
    expect(cause?.reason).not.toContain(own.home);
    expect((await speak({ model: 'tts', input: TONE_TEXT }, own)).status).toBe(200);
  });
});

describe('espeak-ng, where it is installed', () => {
  const program = findProgram('espeak-ng');
  const MISSING = 'espeak-ng is not installed; its unit test uses captured data';

  it('yields to a real voice, and is used when there is none', async ({ skip }) => {
    if (program === null) return skip(MISSING);
    const own = await forTest(startTones({ env: { SVC_ESPEAK: 'on' } }));
    expect(await slot(own, 'tts')).toMatchObject({ engine: 'speech', model: 'tone-voice' });
    rmSync(join(own.home, 'state', 'models', 'tone-voice'), { recursive: true });
    own.signal('SIGHUP');
    await until(async () => (await slot(own, 'tts')).engine === 'espeak', 'espeak-ng to take slot tts');
    expect(await slot(own, 'tts')).toMatchObject({ model: 'espeak-ng', auto: true });
    const { voices } = (await send(own, 'GET', '/v1/audio/voices')).json<{ voices: { id: string }[] }>();
    expect(voices.map(({ id }) => id)).toContain('en-us');
    const params = { model: 'espeak-ng', input: 'Hello world. This is real speech.', voice: 'de' };
    const speech = await speak({ ...params, response_format: 'wav' }, own);
    expect([speech.status, speech.bytes.readUInt32LE(24)]).toEqual([200, 22_050]);
    expect(speech.bytes.length).toBeGreaterThan(22_050 * 2);
    const mp3 = await speak({ ...params, response_format: 'mp3' }, own);
    expect(mp3.status).toBe(FFMPEG === null ? 422 : 200);
    writeToneVoice(join(own.home, 'state', 'models', 'tone-voice'));
    own.signal('SIGHUP');
    await until(
      async () => (await slot(own, 'tts')).model === 'tone-voice',
      'the real voice to take slot tts',
    );
    // It is removed at the end of the folder scan that found the real voice.
    const listed = async () =>
      (await send(own, 'GET', '/api/models')).json<{ models: { id: string }[] }>().models.map(({ id }) => id);
    await until(async () => !(await listed()).includes('espeak-ng'), 'espeak-ng to leave the list');
    expect(await listed()).toContain('tone-voice');
  });
});
