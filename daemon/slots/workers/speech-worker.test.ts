import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fromPcm16, wavHead } from '../../kit/pcm.ts';
import { DEFAULT_PATH } from '../../kit/run-command.ts';
import { findEspeak } from '../../models/espeak-voices.ts';
import { writeToneRecogniser, writeToneVoice } from '../../models/onnx/tone-folders.ts';
import { TONE_CELL } from '../../models/onnx/tones.ts';
import { WORKER_EXIT } from './protocol.ts';
import { type ForkedWorker, forkSpeechWorker, KEY, readEvents } from './testing/forked-worker.ts';

const SPEECH = '/v1/audio/speech';
const HEARING = '/v1/audio/transcriptions';

const findFfmpeg = (): string | null =>
  DEFAULT_PATH.split(':')
    .map((folder) => join(folder, 'ffmpeg'))
    .find((path) => existsSync(path)) ?? null;

const childrenOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);

const home = mkdtempSync(join(tmpdir(), 'svc-speech-worker-'));
const workers: ForkedWorker[] = [];
const fork: typeof forkSpeechWorker = async (...order) => {
  const worker = await forkSpeechWorker(...order);
  workers.push(worker);
  return worker;
};
let voice: ForkedWorker;
let ear: ForkedWorker;

beforeAll(async () => {
  voice = await fork(writeToneVoice(join(home, 'voice'), { speakers: 2 }), 'speech', home);
  ear = await fork(writeToneRecogniser(join(home, 'ear')), 'transcription', home);
  await Promise.all([voice.ready, ear.ready]);
}, 30_000);
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  rmSync(home, { recursive: true, force: true });
});

async function say(input: string, more: object = {}): Promise<Buffer> {
  const answer = await voice.post(SPEECH, { model: 'x', input, ...more });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'response_format' in more ? 'audio/pcm' : 'audio/wav',
  ]);
  return Buffer.from(await answer.arrayBuffer());
}

function form(
  sound: Buffer,
  fields: Record<string, string> = {},
  file: [string, string] = ['a.wav', 'audio/wav'],
) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('file', new Blob([new Uint8Array(sound)], { type: file[1] }), file[0]);
  return body;
}
const hear = async (sound: Buffer, fields: Record<string, string> = {}, file?: [string, string]) => {
  const answer = await ear.post(HEARING, form(sound, fields, file));
  const text = await answer.text();
  return { status: answer.status, type: answer.headers.get('content-type'), text };
};
const TEXT = 'good morning, llama 42.';

describe('tone voice and tone recogniser', () => {
  test('a sentence comes back exactly', async () => {
    const heard = await hear(await say(TEXT), { model: 'x' });
    expect(heard.status).toBe(200);
    expect(JSON.parse(heard.text)).toEqual({ text: TEXT, usage: { type: 'duration', seconds: 3 } });
  });

  test('also as bare samples of 24,000 a second', async () => {
    const sound = await say(TEXT, { response_format: 'pcm' });
    expect(sound.length).toBeGreaterThan(24_000 * 2 * 2);
    expect(JSON.parse((await hear(sound, {}, ['a.pcm', 'audio/pcm'])).text).text).toBe(TEXT);
  });

  test('also at other speeds', async () => {
    const lengths: number[] = [];
    for (const speed of [0.5, 2]) {
      const sound = await say(TEXT, { speed });
      lengths.push(sound.length);
      expect(JSON.parse((await hear(sound)).text).text).toBe(TEXT);
    }
    const [slow = 0, fast = 1] = lengths;
    expect(slow / fast).toBeGreaterThan(3);
  });

  test('a text of several sentences is spoken piece by piece and heard as a whole', async () => {
    const long = 'The first sentence is here. The second one follows it. And a third.';
    const sound = await say(long);
    expect(sound.readUInt32LE(40)).toBe(0xffff_ffff);
    expect(sound.length - 44).toBeGreaterThan(long.length * TONE_CELL * 2);
    expect(JSON.parse((await hear(sound)).text).text).toBe(long.toLowerCase());
  });

  test('a single sentence says how long it is', async () => {
    const sound = await say(TEXT);
    expect(sound.readUInt32LE(40)).toBe(sound.length - 44);
  });

  test('another voice is another sound', async () => {
    const peak = (sound: Buffer) => Math.max(...fromPcm16(sound.subarray(44)));
    const [quiet, loud] = [await say(TEXT, { voice: '0' }), await say(TEXT, { voice: { id: '1' } })];
    expect(peak(loud) / peak(quiet)).toBeCloseTo(2, 1);
  });
});

describe('speaking', () => {
  test('the first sound comes before the last piece is made, and a caller who leaves stops the rest', async () => {
    const leaving = new AbortController();
    const input = 'This is one sentence of many that follow. '.repeat(1_500);
    const answer = await voice.post(SPEECH, { input }, { signal: leaving.signal });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value?.length).toBeGreaterThan(0);
    expect(await voice.health()).toMatchObject({ active: 1 });
    leaving.abort();
    await vi.waitFor(async () => expect(await voice.health()).toMatchObject({ active: 0, queued: 0 }), 2_000);
  });

  test('two callers take turns', async () => {
    const texts = ['One two three. Four five six. Seven.', 'Other words here. And more of them.'];
    const sounds = await Promise.all(texts.map((text) => say(text)));
    for (const [index, sound] of sounds.entries())
      expect(JSON.parse((await hear(sound)).text).text).toBe(texts[index]?.toLowerCase());
  });

  test('the names that clients of OpenAI send mean the own voice', async () => {
    expect((await say(TEXT, { voice: 'alloy' })).equals(await say(TEXT))).toBe(true);
  });

  test.each([
    [{ input: TEXT, voice: 'nobody' }, 'voice', 'there is no voice "nobody"; there is 0, 1'],
    [{ input: TEXT, response_format: 'mp3' }, 'response_format', 'must be wav or pcm'],
    [{ input: TEXT, speed: 9 }, 'speed', 'must be 0.25 to 4'],
    [{ input: TEXT, speed: 'fast' }, 'speed', 'must be a number'],
    [{ input: '' }, 'input', 'nothing that can be said'],
    [{ input: ' ... ' }, 'input', 'nothing that can be said'],
    [{ input: 'äöü' }, 'input', 'nothing that this voice can say'],
    [{ input: 'a'.repeat(65_537) }, 'input', 'at most 65536 characters'],
    [{ input: 7 }, 'input', 'must be a string'],
    [{}, 'input', 'must be a string'],
  ])('case %#', async (body, param, reason) => {
    const answer = await voice.post(SPEECH, body);
    const { error } = (await answer.json()) as { error: { param: string; message: string; code: string } };
    expect([answer.status, error.code, error.param]).toEqual([422, 'request.invalid', param]);
    expect(error.message).toContain(reason);
  });

  test('its voices are listed', async () => {
    const answer = await fetch(`${voice.origin}/v1/audio/voices`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(await answer.json()).toEqual({
      voices: [
        { id: '0', name: '0' },
        { id: '1', name: '1' },
      ],
    });
  });
});

describe('listening', () => {
  let sound: Buffer;
  beforeAll(async () => {
    sound = await say(TEXT);
  });

  test.each([
    ['json', 'application/json; charset=utf-8', `{"text":"${TEXT}"`],
    ['text', 'text/plain; charset=utf-8', `${TEXT}\n`],
    ['srt', 'text/plain; charset=utf-8', `1\n00:00:00,000 --> 00:00:03,000\n${TEXT}\n`],
    ['vtt', 'text/plain; charset=utf-8', `WEBVTT\n\n00:00:00.000 --> 00:00:03.000\n${TEXT}\n`],
    [
      'verbose_json',
      'application/json; charset=utf-8',
      '{"task":"transcribe","language":"unknown","duration":3,',
    ],
  ])('%s', async (response_format, type, start) => {
    const heard = await hear(sound, { response_format });
    expect([heard.status, heard.type]).toEqual([200, type]);
    expect(heard.text.startsWith(start)).toBe(true);
  });

  test('streamed: each stretch, then the whole', async () => {
    const answer = await ear.post(HEARING, form(sound, { stream: 'true', model: 'x' }));
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const events: { type: string; delta?: string; text?: string }[] = [];
    for await (const event of readEvents(answer)) events.push(JSON.parse(event));
    expect(events.map(({ type }) => type)).toEqual(['transcript.text.delta', 'transcript.text.done']);
    expect(events[0]?.delta).toBe(TEXT);
    expect(events[1]?.text).toBe(TEXT);
  });

  test('silence is no text', async () => {
    const silence = Buffer.concat([wavHead(16_000, 64_000), Buffer.alloc(64_000)]);
    expect(JSON.parse((await hear(silence)).text)).toEqual({
      text: '',
      usage: { type: 'duration', seconds: 2 },
    });
  });

  test.each([1, 2, 50, 319, 321])('%i samples end nothing', async (samples) => {
    const short = Buffer.concat([wavHead(16_000, samples * 2), Buffer.alloc(samples * 2, 0x31)]);
    expect((await hear(short)).status).toBe(200);
  });

  test.each([
    ['nothing', Buffer.alloc(0), 'The file is empty.'],
    ['noise', Buffer.alloc(5_000, 'no sound at all '), 'not supported'],
  ])('%s is 415', async (_, bytes, reason) => {
    const heard = await hear(bytes, {}, ['a.mp3', 'audio/mpeg']);
    expect([heard.status, JSON.parse(heard.text).error.code]).toEqual([415, 'audio.unsupported_format']);
    expect(heard.text).toContain(findFfmpeg() || bytes.length === 0 ? reason : 'is not installed');
  });

  test.each([
    [{ response_format: 'docx' }, 'response_format'],
    [{ stream: 'true', response_format: 'srt' }, 'stream'],
  ])('%j is refused', async (fields, param) => {
    const heard = await hear(sound, fields as Record<string, string>);
    expect([heard.status, JSON.parse(heard.text).error.param]).toEqual([422, param]);
  });

  test('a form without a file, and no form at all', async () => {
    const body = new FormData();
    body.append('model', 'x');
    expect((await ear.post(HEARING, body)).status).toBe(422);
    expect((await ear.post(HEARING, { model: 'x' })).status).toBe(415);
  });

  test('nothing of what was heard stays on the disk', () => {
    expect(readdirSync(join(home, 'spool'))).toEqual([]);
  });
});

describe('other formats, through the real decoder', () => {
  const program = findFfmpeg();
  test.for([
    ['mp3', ['-f', 'mp3', '-b:a', '128k']],
    ['flac', ['-f', 'flac']],
    ['ogg', ['-f', 'ogg', '-c:a', 'libvorbis', '-q:a', '5']],
    ['m4a', ['-f', 'mp4', '-c:a', 'aac', '-b:a', '192k']],
    ['webm', ['-f', 'webm', '-c:a', 'libopus', '-b:a', '128k']],
  ] as const)('%s', async ([name, args], { skip }) => {
    if (program === null) return skip('ffmpeg is not installed; what happens then is tested above');
    const [source, target] = [join(home, 'source.wav'), join(home, `sound.${name}`)];
    writeFileSync(source, await say(TEXT));
    execFileSync(program, ['-y', '-loglevel', 'error', '-i', source, ...args, target]);
    const heard = await hear(readFileSync(target), {}, [`a.${name}`, 'application/octet-stream']);
    expect([heard.status, JSON.parse(heard.text).text]).toEqual([200, TEXT]);
  });

  test('a play list opens nothing', async ({ skip }) => {
    if (program === null) return skip('ffmpeg is not installed');
    writeFileSync(join(home, 'source.wav'), await say(TEXT));
    const list = Buffer.from(`#EXTM3U\n#EXTINF:3,\nfile://${join(home, 'source.wav')}\n#EXT-X-ENDLIST\n`);
    expect((await hear(list, {}, ['a.m3u8', 'audio/mpegurl'])).status).toBe(415);
    const concat = Buffer.from(`ffconcat version 1.0\nfile '${join(home, 'source.wav')}'\n`);
    expect((await hear(concat, {}, ['a.txt', 'text/plain'])).status).toBe(415);
  });
});

describe('a model that is none', () => {
  test.each([
    [
      'a missing part',
      (folder: string) => writeFileSync(join(folder, 'voices.bin'), 'x'),
      'espeak-ng-data is missing',
    ],
    ['an empty file', (folder: string) => truncateSync(join(folder, 'tokens.txt')), 'tokens.txt is empty'],
    [
      'a cut model',
      (folder: string) => truncateSync(join(folder, 'model.onnx'), 60_000),
      'not a whole ONNX file',
    ],
    ['a recogniser', (folder: string) => void writeToneRecogniser(folder), 'not a voice'],
  ])('%s: the worker says why and ends', async (name, spoil, reason) => {
    const folder = writeToneVoice(join(home, name.replaceAll(' ', '-')));
    spoil(folder);
    const worker = await fork(folder, 'speech', home);
    await expect(worker.ready).rejects.toThrow(reason);
    expect((await worker.exited).code).toBe(WORKER_EXIT.failed);
  });

  test('one that only looks whole ends its own process and no other', async () => {
    const folder = writeToneVoice(join(home, 'looks-whole'));
    writeFileSync(join(folder, 'tokens.txt'), 'nonsense without numbers\n');
    const worker = await fork(folder, 'speech', home);
    await expect(worker.ready).rejects.toThrow();
    expect((await worker.exited).code).not.toBe(0);
    expect(await voice.health()).toMatchObject({ status: 'ok' });
  });
});

describe('espeak-ng', () => {
  let program: string | null = null;
  let espeak: ForkedWorker | null = null;
  beforeAll(async () => {
    program = await findEspeak();
    if (program === null) return;
    espeak = await fork(program, 'espeak', home);
    await espeak.ready;
  });
  const MISSING = 'espeak-ng is not installed';

  test('speaks, faster when asked', async ({ skip }) => {
    if (espeak === null) return skip(MISSING);
    const lengths: number[] = [];
    for (const speed of [1, 2]) {
      const answer = await espeak.post(SPEECH, { input: 'Hello world, this is a test. It speaks.', speed });
      const sound = Buffer.from(await answer.arrayBuffer());
      expect([answer.status, sound.toString('latin1', 0, 4), sound.readUInt32LE(24)]).toEqual([
        200,
        'RIFF',
        22_050,
      ]);
      lengths.push(sound.length);
    }
    expect(lengths[0]).toBeGreaterThan(22_050 * 2);
    expect(lengths[1]).toBeLessThan((lengths[0] as number) * 0.8);
  });

  test('a text is never an argument', async ({ skip }) => {
    if (espeak === null) return skip(MISSING);
    const answer = await espeak.post(SPEECH, { input: '--voices -w /tmp/x', voice: 'de' });
    expect(Buffer.from(await answer.arrayBuffer()).length).toBeGreaterThan(10_000);
  });

  test('an unknown voice is refused with the voices there are', async ({ skip }) => {
    if (espeak === null) return skip(MISSING);
    const answer = await espeak.post(SPEECH, { input: 'hello', voice: 'xx; rm -rf' });
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('there is af, am')]);
  });

  test('a caller who leaves ends the process', async ({ skip }) => {
    if (espeak === null) return skip(MISSING);
    const leaving = new AbortController();
    const input = 'A long story about nothing at all. '.repeat(1_800);
    const answer = await espeak.post(SPEECH, { input }, { signal: leaving.signal });
    await (answer.body as ReadableStream<Uint8Array>).getReader().read();
    leaving.abort();
    await vi.waitFor(() => expect(childrenOf(espeak?.child.pid ?? 0)).toEqual([]), 2_000);
  });

  test('a program that is none is a reason', async () => {
    const worker = await fork('/nowhere/espeak-ng', 'espeak', home);
    await expect(worker.ready).rejects.toThrow('espeak-ng does not run');
  });
});
