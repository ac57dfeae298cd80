import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wavHeader } from '../../lib/media/pcm.ts';
import { readEvents } from './testing/forked-worker.ts';
import {
  findFfmpeg,
  formOf,
  startToneWorkers,
  TEXT,
  type ToneWorkers,
  TRANSCRIPTIONS,
} from './testing/tone-workers.ts';

let tones: ToneWorkers;
beforeAll(async () => {
  tones = await startToneWorkers();
}, 30_000);
afterAll(() => tones.stop());

describe('transcription', () => {
  let sound: Buffer;
  beforeAll(async () => {
    sound = await tones.speak(TEXT);
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
    const result = await tones.transcribe(sound, { response_format });
    expect([result.status, result.type]).toEqual([200, type]);
    expect(result.text.startsWith(start)).toBe(true);
  });

  test('streamed: each segment, then the whole text', async () => {
    const answer = await tones.recogniser.post(TRANSCRIPTIONS, formOf(sound, { stream: 'true', model: 'x' }));
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const events: { type: string; delta?: string; text?: string }[] = [];
    for await (const event of readEvents(answer)) events.push(JSON.parse(event));
    expect(events.map(({ type }) => type)).toEqual(['transcript.text.delta', 'transcript.text.done']);
    expect(events[0]?.delta).toBe(TEXT);
    expect(events[1]?.text).toBe(TEXT);
  });

  test('a long recording is streamed while it is decoded, and its segments keep their times', async () => {
    const samples = Buffer.concat(Array.from({ length: 14 }, () => sound.subarray(44)));
    const long = Buffer.concat([wavHeader(16_000, samples.length), samples]);
    const answer = await tones.recogniser.post(TRANSCRIPTIONS, formOf(long, { stream: 'true' }));
    const events: { type: string; delta?: string; text?: string }[] = [];
    for await (const event of readEvents(answer)) events.push(JSON.parse(event));
    const deltas = events.filter(({ type }) => type === 'transcript.text.delta').map(({ delta }) => delta);
    expect(deltas.length).toBeGreaterThan(3);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: deltas.join('') });
    const verbose = JSON.parse((await tones.transcribe(long, { response_format: 'verbose_json' })).text);
    expect(verbose.duration).toBe(42);
    const { segments } = verbose as { segments: { start: number; end: number }[] };
    for (const [at, { start }] of segments.entries()) expect(start).toBe(segments[at - 1]?.end ?? 0);
    expect(segments.at(-1)?.end).toBe(42);
  });

  test('silence in a stream has no delta', async () => {
    const silence = Buffer.concat([wavHeader(16_000, 64_000), Buffer.alloc(64_000)]);
    const answer = await tones.recogniser.post(TRANSCRIPTIONS, formOf(silence, { stream: 'true' }));
    const events: string[] = [];
    for await (const event of readEvents(answer)) events.push(event);
    expect(events.map((event) => JSON.parse(event))).toEqual([{ type: 'transcript.text.done', text: '' }]);
  });

  test('silence has no text', async () => {
    const silence = Buffer.concat([wavHeader(16_000, 64_000), Buffer.alloc(64_000)]);
    expect(JSON.parse((await tones.transcribe(silence)).text)).toEqual({
      text: '',
      usage: { type: 'duration', seconds: 2 },
    });
  });

  test.each([1, 2, 50, 319, 321])('%i samples do not crash it', async (samples) => {
    const short = Buffer.concat([wavHeader(16_000, samples * 2), Buffer.alloc(samples * 2, 0x31)]);
    expect((await tones.transcribe(short)).status).toBe(200);
  });

  test.each([
    ['nothing', Buffer.alloc(0), 'The file is empty.'],
    ['noise', Buffer.alloc(5_000, 'no sound at all '), 'not supported'],
  ])('%s is 415', async (_, bytes, reason) => {
    const result = await tones.transcribe(bytes, {}, ['a.mp3', 'audio/mpeg']);
    expect([result.status, JSON.parse(result.text).error.code]).toEqual([415, 'audio.unsupported_format']);
    expect(result.text).toContain(findFfmpeg() || bytes.length === 0 ? reason : 'is not installed');
  });

  test.each([
    [{ response_format: 'docx' }, 'response_format'],
    [{ stream: 'true', response_format: 'srt' }, 'stream'],
  ])('refuses %j', async (fields, param) => {
    const result = await tones.transcribe(sound, fields as Record<string, string>);
    expect([result.status, JSON.parse(result.text).error.param]).toEqual([422, param]);
  });

  test('refuses a form without a file, and a body that is not a form', async () => {
    const body = new FormData();
    body.append('model', 'x');
    expect((await tones.recogniser.post(TRANSCRIPTIONS, body)).status).toBe(422);
    expect((await tones.recogniser.post(TRANSCRIPTIONS, { model: 'x' })).status).toBe(415);
  });

  test('leaves nothing of the upload on the disk', () => {
    expect(readdirSync(join(tones.home, 'spool'))).toEqual([]);
  });
});

describe('other formats, with the real decoder', () => {
  const program = findFfmpeg();
  test.for([
    ['mp3', ['-f', 'mp3', '-b:a', '128k']],
    ['flac', ['-f', 'flac']],
    ['ogg', ['-f', 'ogg', '-c:a', 'libvorbis', '-q:a', '5']],
    ['m4a', ['-f', 'mp4', '-c:a', 'aac', '-b:a', '192k']],
    ['webm', ['-f', 'webm', '-c:a', 'libopus', '-b:a', '128k']],
  ] as const)('%s', async ([name, args], { skip }) => {
    if (program === null) return skip('ffmpeg is not installed; what happens then is tested above');
    const [source, target] = [join(tones.home, 'source.wav'), join(tones.home, `sound.${name}`)];
    writeFileSync(source, await tones.speak(TEXT));
    execFileSync(program, ['-y', '-loglevel', 'error', '-i', source, ...args, target]);
    const result = await tones.transcribe(readFileSync(target), {}, [
      `a.${name}`,
      'application/octet-stream',
    ]);
    expect([result.status, JSON.parse(result.text).text]).toEqual([200, TEXT]);
  });

  test('a playlist opens no other file or address', async ({ skip }) => {
    if (program === null) return skip('ffmpeg is not installed');
    writeFileSync(join(tones.home, 'source.wav'), await tones.speak(TEXT));
    const list = Buffer.from(
      `#EXTM3U\n#EXTINF:3,\nfile://${join(tones.home, 'source.wav')}\n#EXT-X-ENDLIST\n`,
    );
    expect((await tones.transcribe(list, {}, ['a.m3u8', 'audio/mpegurl'])).status).toBe(415);
    const concat = Buffer.from(`ffconcat version 1.0\nfile '${join(tones.home, 'source.wav')}'\n`);
    expect((await tones.transcribe(concat, {}, ['a.txt', 'text/plain'])).status).toBe(415);
  });
});
