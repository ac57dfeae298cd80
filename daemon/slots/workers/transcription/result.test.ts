import { describe, expect, test } from 'vitest';
import { transcriptionRequest } from './request.ts';
import { resultBody, textOf, usageOf } from './result.ts';

const segments = [
  { start: 0, end: 1.5, text: 'One' },
  { start: 1.5, end: 3, text: '' },
  { start: 3661.0004, end: 3662.25, text: 'two --> three' },
];
const transcript = { segments, duration: 3662.25, language: 'en' };

test('stretches are joined by a space, but not in scripts without spaces', () => {
  expect(textOf(segments)).toBe('One two --> three');
  expect(
    textOf([
      { start: 0, end: 1, text: '今日は' },
      { start: 1, end: 2, text: '雨' },
    ]),
  ).toBe('今日は雨');
  expect(textOf([])).toBe('');
});

describe('resultBody', () => {
  test('subtitles', () => {
    expect(resultBody(transcript, 'srt').body).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nOne\n\n2\n01:01:01,000 --> 01:01:02,250\ntwo -> three\n',
    );
    expect(resultBody(transcript, 'vtt').body).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nOne\n\n01:01:01.000 --> 01:01:02.250\ntwo -> three\n',
    );
    expect(resultBody({ ...transcript, segments: [] }, 'vtt').body).toBe('WEBVTT\n\n');
  });

  test('verbose JSON names what OpenAI lists', () => {
    const body = JSON.parse(resultBody(transcript, 'verbose_json').body);
    expect(body).toMatchObject({
      task: 'transcribe',
      language: 'en',
      duration: 3662.25,
      text: 'One two --> three',
    });
    expect(body.segments).toHaveLength(2);
    expect(Object.keys(body.segments[1]).sort()).toEqual(
      'avg_logprob compression_ratio end id no_speech_prob seek start temperature text tokens'.split(' '),
    );
  });

  test('begun seconds count', () => expect(usageOf(2.01)).toEqual({ type: 'duration', seconds: 3 }));
});

describe('transcriptionRequest', () => {
  const read = (fields: Record<string, string>, languages: string[] = []) =>
    transcriptionRequest(new Map(Object.entries(fields)), languages);

  test.each([
    [{}, [], { format: 'json', stream: false, language: null }],
    [{ stream: 'True', response_format: ' text ' }, [], { format: 'text', stream: true, language: null }],
    [{ language: 'de' }, [], { format: 'json', stream: false, language: null }],
    [{ language: 'DE' }, ['en', 'de'], { format: 'json', stream: false, language: 'de' }],
    [{ language: 'en-US' }, ['en', 'de'], { format: 'json', stream: false, language: 'en' }],
    [{ language: ' ' }, ['en'], { format: 'json', stream: false, language: null }],
  ])('%j %j', (fields, languages, expected) =>
    expect(read(fields as Record<string, string>, languages)).toEqual(expected),
  );

  test('a language that the model does not know never reaches it', () => {
    expect(() => read({ language: 'tlh' }, ['en', 'de'])).toThrowError('this model knows en, de');
  });
});
