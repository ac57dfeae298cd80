import { describe, expect, test } from 'vitest';
import { transcriptionRequest } from './request.ts';
import { resultBody, textOf, usageOf } from './result.ts';

const segments = [
  { start: 0, end: 1.5, text: 'One' },
  { start: 1.5, end: 3, text: '' },
  { start: 3661.0004, end: 3662.25, text: 'two --> three' },
];
const transcript = { segments, duration: 3662.25, language: 'en' };

test('segments are joined by a space, except in scripts without spaces', () => {
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

  test("verbose JSON has OpenAI's fields", () => {
    const body = JSON.parse(resultBody(transcript, 'verbose_json').body);
    expect(body).toMatchObject({
      task: 'transcribe',
      language: 'en',
      duration: 3662.25,
      text: 'One two --> three',
    });
    expect(body.segments).toHaveLength(2);
    // No probability is invented.
    expect(Object.keys(body.segments[1]).sort()).toEqual(
      'compression_ratio end id seek start temperature text tokens'.split(' '),
    );
  });

  test('a segment has the log probability that the model reports', () => {
    const reported = segments.map((segment, index) => ({
      ...segment,
      logProbability: index === 0 ? -0.25 : null,
    }));
    const body = JSON.parse(resultBody({ ...transcript, segments: reported }, 'verbose_json').body);
    expect(body.segments[0].avg_logprob).toBe(-0.25);
    expect(body.segments[1]).not.toHaveProperty('avg_logprob');
  });

  test('the compression ratio shows repetitions', () => {
    const ratio = (text: string) =>
      JSON.parse(resultBody({ ...transcript, segments: [{ start: 0, end: 1, text }] }, 'verbose_json').body)
        .segments[0].compression_ratio;
    expect(ratio('Please remind me to buy milk.')).toBeLessThan(1.2);
    // Clients drop segments above 2.4.
    expect(ratio('and so on '.repeat(30))).toBeGreaterThan(2.4);
  });

  test('words, when requested and reported by every segment', () => {
    const words = [{ word: 'One', start: 0, end: 1 }];
    const read = (known: typeof segments, wantsWords: boolean) =>
      JSON.parse(resultBody({ ...transcript, segments: known }, 'verbose_json', wantsWords).body) as object;
    const timed = segments.map((segment) => ({ ...segment, words }));
    expect(read(timed, true)).toMatchObject({ words: [...words, ...words] });
    expect(read(timed, false)).not.toHaveProperty('words');
    // A silent segment has no words that could be missing.
    expect(read([...timed, { start: 9, end: 10, text: '' }] as typeof timed, true)).toMatchObject({
      words: [...words, ...words],
    });
    expect(read([...timed, { start: 9, end: 10, text: 'x' }] as typeof timed, true)).not.toHaveProperty(
      'words',
    );
  });

  test('seconds are rounded up', () => expect(usageOf(2.01)).toEqual({ type: 'duration', seconds: 3 }));
});

describe('transcriptionRequest', () => {
  const read = (fields: Record<string, string>, languages: string[] = []) =>
    transcriptionRequest(new Map(Object.entries(fields)), languages);

  test.each([
    ['word', 'verbose_json', true],
    ['segment,word', 'verbose_json', true],
    ['segment', 'verbose_json', false],
    ['word', 'json', false],
  ])('granularity %s of %s: words %s', (timestamp_granularities, response_format, words) => {
    expect(read({ timestamp_granularities, response_format }).words).toBe(words);
  });

  test.each([
    [{}, [], { format: 'json', stream: false, language: null, words: false }],
    [
      { stream: 'True', response_format: ' text ' },
      [],
      { format: 'text', stream: true, language: null, words: false },
    ],
    [{ language: 'de' }, [], { format: 'json', stream: false, language: null, words: false }],
    [{ language: 'DE' }, ['en', 'de'], { format: 'json', stream: false, language: 'de', words: false }],
    [{ language: 'en-US' }, ['en', 'de'], { format: 'json', stream: false, language: 'en', words: false }],
    [{ language: 'German' }, ['en', 'de'], { format: 'json', stream: false, language: 'de', words: false }],
    [{ language: 'haitian creole' }, ['ht'], { format: 'json', stream: false, language: 'ht', words: false }],
    [{ language: 'auto' }, ['auto', 'en'], { format: 'json', stream: false, language: 'auto', words: false }],
    [{ language: 'auto' }, ['en', 'de'], { format: 'json', stream: false, language: null, words: false }],
    [{ language: ' ' }, ['en'], { format: 'json', stream: false, language: null, words: false }],
  ])('%j %j', (fields, languages, expected) =>
    expect(read(fields as Record<string, string>, languages)).toEqual(expected),
  );

  test('a language that the model does not know is not passed to it', () => {
    expect(() => read({ language: 'tlh' }, ['en', 'de'])).toThrowError('this model supports en, de');
  });

  test('the error about a language stays short for a model that knows many: a long one would be masked', () => {
    const many = Array.from({ length: 99 }, (_, index) => `a${String.fromCharCode(97 + (index % 26))}`);
    expect(() => read({ language: 'tlh' }, many)).toThrowError(/at and 79 others$/);
  });
});
