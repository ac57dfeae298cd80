import { rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { wavHeader } from '../../lib/media/pcm.ts';
import { scratchOfFile } from '../../lib/testing/scratch.ts';
import { registeredModel, routingView } from '../testing/builders.ts';
import { post, until } from '../testing/client.ts';
import { listen, openGateway, type TestServer, TestSlots } from '../testing/gateway.ts';
import { Encoders } from './encoders.ts';
import { listVoices } from './voices.ts';

const SPEECH = '/v1/audio/speech';
const folder = scratchOfFile();
/** A stand-in for ffmpeg that lists its encoders and then encodes nothing. */
const FAILING = join(folder, 'failing');
const LISTS = '#!/bin/sh\ncase "$*" in *-encoders*) echo " A..... libmp3lame x"; exit 0;; esac\n';
writeFileSync(FAILING, `${LISTS}cat > /dev/null; exit 1\n`, { mode: 0o755 });
/** A fake ffmpeg that exits after reading a little. */
const DYING = join(folder, 'dying');
writeFileSync(DYING, `${LISTS}head -c 1000 > /dev/null; exit 1\n`, { mode: 0o755 });
const ENCODING_FAILED = 'The sound format could not be made.';
const open: TestServer[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** A stand-in for the embedded engine behind the real forwarder; `program` replaces ffmpeg. */
async function setUp(handler: RequestListener, program: string | Encoders) {
  const engine = await listen(handler);
  const slots = new TestSlots([slotRecord({ name: 'tts', type: 'tts', model: 'voice', engine: 'speech' })]);
  slots.engine = engine.origin;
  const encoders = typeof program === 'string' ? new Encoders(program) : program;
  const gateway = await openGateway({ slots, encoders });
  open.push(gateway, engine);
  return { gateway, slots };
}

const speaks =
  (requestBodies: string[]): RequestListener =>
  (req, res) => {
    let text = '';
    req.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    req.on('end', () => {
      requestBodies.push(text);
      res.setHeader('content-type', 'audio/wav');
      res.end('RIFF');
    });
  };

describe('without an encoder on the machine', () => {
  const ABSENT = 'no-such-encoder-here';

  test('audio is wav when no format was named', async () => {
    const requestBodies: string[] = [];
    const { gateway, slots } = await setUp(speaks(requestBodies), ABSENT);
    const answer = await post(gateway.origin, SPEECH, { model: 'tts', input: 'x' });
    expect(answer).toMatchObject({ status: 200, body: 'RIFF' });
    expect(JSON.parse(requestBodies[0] ?? '')).toMatchObject({ response_format: 'wav', model: 'voice' });
    expect(slots.released).toBe(1);
  });

  test('mp3 is 422 before anything is loaded', async () => {
    const { gateway, slots } = await setUp(speaks([]), ABSENT);
    const answer = await post(gateway.origin, SPEECH, { model: 'tts', input: 'x', response_format: 'mp3' });
    expect(answer.status).toBe(422);
    expect(answer.body).toContain('needs ffmpeg');
    expect(slots.requests).toEqual([]);
  });
});

test('an input that is not a string is refused with its field before anything is loaded', async () => {
  const { gateway, slots } = await setUp(speaks([]), FAILING);
  const answer = await post(gateway.origin, SPEECH, { model: 'tts', input: 5 });
  expect(answer.status).toBe(422);
  expect(JSON.parse(answer.body).error).toMatchObject({
    code: 'request.invalid',
    param: 'input',
    details: { fields: [{ path: 'input', reason: 'must be a string' }] },
  });
  expect(slots.requests).toEqual([]);
});

describe('an encoder that fails', () => {
  test('before its first byte gives 500 and releases the slot', async () => {
    const requestBodies: string[] = [];
    const { gateway, slots } = await setUp(speaks(requestBodies), FAILING);
    const answer = await post(gateway.origin, SPEECH, { model: 'tts', input: 'x', response_format: 'mp3' });
    expect([answer.status, JSON.parse(answer.body).error.message]).toEqual([500, ENCODING_FAILED]);
    expect(slots.released).toBe(1);
  });

  test('ends the call, whether the engine is paused or still sends', async () => {
    for (const bytes of [8 * 1024 * 1024, 1024]) {
      let closed = false;
      const speaks: RequestListener = (req, res) => {
        req.resume();
        res.once('close', () => {
          closed = true;
        });
        res.writeHead(200, { 'content-type': 'audio/pcm' });
        res.write(Buffer.alloc(bytes));
      };
      const { gateway, slots } = await setUp(speaks, DYING);
      const answer = await post(gateway.origin, SPEECH, { model: 'tts', input: 'x', response_format: 'mp3' });
      expect([answer.status, JSON.parse(answer.body).error.message]).toEqual([500, ENCODING_FAILED]);
      expect(slots.released).toBe(1);
      await until(() => closed);
    }
  });

  test('that was removed is searched for again', async () => {
    const program = join(folder, 'removed');
    writeFileSync(program, LISTS, { mode: 0o755 });
    const encoders = new Encoders(program);
    expect([...(await encoders.formats())]).toEqual(['mp3']);
    rmSync(program);
    const { gateway } = await setUp(speaks([]), encoders);
    const request = { model: 'tts', input: 'x', response_format: 'mp3' };
    const answer = await post(gateway.origin, SPEECH, request);
    expect([answer.status, JSON.parse(answer.body).error.message]).toEqual([500, ENCODING_FAILED]);
    expect(await post(gateway.origin, SPEECH, request)).toMatchObject({ status: 422 });
  });
});

test('an error of the engine bypasses the encoder', async () => {
  const body = '{"error":{"code":"request.invalid","message":"no such voice","type":"x","param":"voice"}}';
  const { gateway } = await setUp((req, res) => {
    req.resume();
    res.writeHead(422, { 'content-type': 'application/json' });
    res.end(body);
  }, FAILING);
  const answer = await post(gateway.origin, SPEECH, { model: 'tts', input: 'x', response_format: 'mp3' });
  expect(answer).toMatchObject({ status: 422, body });
});

describe('speech without any sound', () => {
  const header = wavHeader(24_000, 0);
  const sends =
    (headers: Record<string, string>, ...parts: Buffer[]): RequestListener =>
    (req, res) => {
      req.resume();
      res.writeHead(200, headers);
      for (const part of parts) res.write(part);
      res.end();
    };
  /** Sends the request to an engine that makes all formats itself, or to the embedded one. */
  const speak = async (engine: string, handler: RequestListener, request: object) => {
    const { gateway, slots } = await setUp(handler, 'no-such-encoder-here');
    slots.records = [slotRecord({ name: 'tts', type: 'tts', model: 'voice', engine })];
    const answer = await post(gateway.origin, SPEECH, { model: 'tts', ...request });
    return { ...answer, error: answer.status === 200 ? null : JSON.parse(answer.body).error };
  };

  test.each([
    ['no byte', 'custom', sends({ 'content-type': 'audio/mpeg' }), {}],
    ['a length of zero', 'custom', sends({ 'content-length': '0' }), { response_format: 'opus' }],
    ['no type', 'custom', sends({}), {}],
    ['the header of a WAV file', 'custom', sends({ 'content-type': 'audio/wav' }, header), {}],
    [
      'the header in two parts',
      'custom',
      sends({ 'content-type': 'audio/wav' }, header.subarray(0, 9), header.subarray(9)),
      {},
    ],
    ['a stream without an event', 'custom', sends({ 'content-type': 'text/event-stream' }), {}],
    [
      'events of the embedded engine',
      'speech',
      sends({ 'content-type': 'audio/pcm' }),
      { stream_format: 'sse' },
    ],
    ['samples', 'speech', sends({ 'content-type': 'audio/pcm' }), { response_format: 'pcm' }],
  ])('%s for a text is an error of the engine', async (_, engine, handler, request) => {
    const answer = await speak(engine, handler, { input: 'Hello', ...request });
    expect([answer.status, answer.error?.code]).toEqual([502, 'upstream.error']);
    expect(answer.error.message).toContain('no sound');
  });

  test.each([' ', '😄', '…', '**', '\u2014'])('no byte for %j is an error of the request', async (input) => {
    const answer = await speak('custom', sends({ 'content-type': 'audio/mpeg' }), { input });
    expect([answer.status, answer.error?.code, answer.error?.param]).toEqual([
      422,
      'request.invalid',
      'input',
    ]);
  });

  test('a sound is relayed as it comes, in any parts', async () => {
    const parts = [header.subarray(0, 10), header.subarray(10), Buffer.from('ab'), Buffer.from('cd')];
    const answer = await speak('custom', sends({ 'content-type': 'audio/wav' }, ...parts), { input: 'x' });
    expect(answer.body.endsWith('abcd')).toBe(true);
    expect(answer.body.length).toBe(Buffer.concat(parts).toString('utf8').length);
    const one = await speak('custom', sends({ 'content-type': 'audio/pcm' }, Buffer.from('x')), {
      input: '…',
    });
    expect([one.status, one.body]).toEqual([200, 'x']);
  });
});

test('lists voices without a load, slot tts first, each name once', () => {
  const slots = [
    slotRecord({ name: 'other', type: 'tts', model: 'two' }),
    slotRecord({ name: 'tts', type: 'tts', model: 'one' }),
    slotRecord({ name: 'ear', type: 'stt', model: 'hears' }),
  ];
  const models = [
    { ...registeredModel({ id: 'one', type: 'tts' }), voices: ['a', 'b'] },
    { ...registeredModel({ id: 'two', type: 'tts' }), voices: ['b', 'c'] },
  ];
  const on = routingView({ slots, models });
  const names = (requestedModel: string | null) =>
    listVoices(on, requestedModel).voices.map(({ id, model }) => `${model}:${id}`);
  expect(names(null)).toEqual(['one:a', 'one:b', 'two:c']);
  for (const requestedModel of ['two', 'other', 'svc/other'])
    expect(names(requestedModel)).toEqual(['two:b', 'two:c']);
  expect(names('ear')).toEqual([]);
});
