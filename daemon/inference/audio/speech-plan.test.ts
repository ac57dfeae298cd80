import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SPEECH_NAMES, scanBody } from '../rewrite/body-index.ts';
import { render } from '../rewrite/edits.ts';
import type { SoundFormat } from './formats.ts';
import { parseSpeechRequest, type SpeechTarget, speechPlan } from './speech-plan.ts';

const ALL: readonly SoundFormat[] = ['mp3', 'opus', 'aac', 'flac'];
const EMBEDDED: SpeechTarget = { defaults: null, nativeFormats: ['wav', 'pcm'], encodable: new Set(ALL) };
const BARE: SpeechTarget = { ...EMBEDDED, encodable: new Set() };
const DEFAULTS = { voice: 'anna', speed: 1.5, response_format: 'flac' };
const EXTERNAL: SpeechTarget = { defaults: DEFAULTS, nativeFormats: null, encodable: new Set() };

function plan(body: object, target: SpeechTarget) {
  const index = scanBody(Buffer.from(JSON.stringify(body)), SPEECH_NAMES);
  const { edits, ...rest } = speechPlan(index, parseSpeechRequest(index), target);
  return { ...rest, body: JSON.parse(Buffer.concat([render(index, edits)].flat() as Buffer[]).toString()) };
}
const request = { model: 'm', input: 'x' };

describe('the embedded engine', () => {
  test.each([
    [{}, EMBEDDED, 'mp3', 'pcm', true],
    [{}, BARE, 'wav', 'wav', false],
    [{ response_format: null }, EMBEDDED, 'mp3', 'pcm', true],
    [{ response_format: 'wav' }, EMBEDDED, 'wav', 'wav', false],
    [{ response_format: 'pcm' }, BARE, 'pcm', 'pcm', false],
    [{ response_format: 'opus' }, EMBEDDED, 'opus', 'pcm', true],
    [{}, { ...EMBEDDED, defaults: DEFAULTS }, 'flac', 'pcm', true],
    [{ response_format: 'aac' }, { ...EMBEDDED, defaults: DEFAULTS }, 'aac', 'pcm', true],
    [{}, { ...BARE, defaults: DEFAULTS }, 'wav', 'wav', false],
  ])('%j %#', (more, target, format, engineFormat, encoded) => {
    const planned = plan({ ...request, ...more }, target);
    expect([planned.format, planned.body.response_format, planned.encoded]).toEqual([
      format,
      engineFormat,
      encoded,
    ]);
  });

  test('a requested format that cannot be produced is 422 with what is missing', () => {
    expect(() => plan({ ...request, response_format: 'mp3' }, BARE)).toThrowError(
      expect.objectContaining({
        status: 422,
        code: 'request.invalid',
        message: expect.stringContaining('ffmpeg'),
        options: expect.objectContaining({ param: 'response_format' }),
      }),
    );
  });

  test.each([
    [{ response_format: 'ogg' }, 'response_format'],
    [{ response_format: 7 }, 'response_format'],
    [{ stream_format: 'x' }, 'stream_format'],
    [{ stream_format: true }, 'stream_format'],
    [{ input: 5 }, 'input'],
    [{ input: null }, 'input'],
    [{ input: undefined }, 'input'],
    [{ input: '' }, 'input'],
    [{ input: ['x'] }, 'input'],
  ])('%j is 422', (more, param) => {
    expect(() => plan({ ...request, ...more }, EMBEDDED)).toThrowError(
      expect.objectContaining({ status: 422, options: expect.objectContaining({ param }) }),
    );
  });

  test.each([
    [{ stream_format: 'sse' }, true],
    [{ stream_format: 'audio' }, false],
    [{ stream_format: null }, false],
    [{}, false],
  ])('%j: events %s', (more, events) => expect(plan({ ...request, ...more }, EMBEDDED).events).toBe(events));
});

describe('the voice defaults of a slot', () => {
  test.each([
    [{}, { voice: 'anna', speed: 1.5 }],
    [{ voice: 'ben' }, { voice: 'ben', speed: 1.5 }],
    [
      { voice: null, speed: null },
      { voice: 'anna', speed: 1.5 },
    ],
    [
      { voice: { id: 'x' }, speed: 0.5 },
      { voice: { id: 'x' }, speed: 0.5 },
    ],
    [{ voice: '' }, { voice: '', speed: 1.5 }],
  ])('%j', (more, expected) => {
    expect(plan({ ...request, ...more }, { ...EMBEDDED, defaults: DEFAULTS }).body).toMatchObject(expected);
    expect(plan({ ...request, ...more }, EXTERNAL).body).toMatchObject({
      ...expected,
      response_format: 'flac',
    });
  });

  test('never overwrite sent values, and change nothing else', () => {
    const sent = fc.record(
      {
        voice: fc.constantFrom('a', 'b'),
        speed: fc.constantFrom(0.5, 2),
        response_format: fc.constantFrom('mp3', 'wav'),
        instructions: fc.string(),
        extra: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(sent, (more) => {
        const { body } = plan({ ...request, ...more }, EXTERNAL);
        expect(body).toEqual({ ...DEFAULTS, ...request, ...(JSON.parse(JSON.stringify(more)) as object) });
      }),
    );
  });
});

test('an engine that produces all formats gets the request unchanged', () => {
  const body = { ...request, response_format: 'mp3', stream_format: 'sse' };
  expect(plan(body, { ...EXTERNAL, defaults: null })).toEqual({
    format: null,
    encoded: false,
    events: false,
    body,
  });
});
