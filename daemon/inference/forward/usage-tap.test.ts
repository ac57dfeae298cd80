import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_USAGE, UsageTap } from './usage-tap.ts';

const read = (...parts: string[]) => {
  const tap = new UsageTap();
  for (const part of parts) tap.push(Buffer.from(part));
  return tap.read();
};

test('reads usage from a plain response and from the last event of a stream', () => {
  const usage = '{"prompt_tokens":7,"completion_tokens":12,"total_tokens":19}';
  const expected = { promptTokens: 7, completionTokens: 12, tokensPerSecond: null };
  expect(read(`{"choices":[{"message":{"content":"\\"usage\\":{}"}}],"usage":${usage}}`)).toEqual(expected);
  expect(
    read(
      'data: {"choices":[],"usage":null}\n\n',
      `data: {"choices":[],"usage":${usage}}\n\n`,
      'data: [DONE]\n\n',
    ),
  ).toEqual(expected);
  expect(
    read(
      'data: {"usage" : {"prompt_tok',
      'ens":7,"completion_tokens":12, "prompt_tokens_details":{"a":1}}}\n\n',
    ),
  ).toEqual(expected);
});

test('reads the speed of NPU responses and llama.cpp timings', () => {
  expect(read('{"usage":{"completion_tokens":8,"decoding_speed_tps":41.52}}').tokensPerSecond).toBe(41.5);
  expect(read('{"timings":{"prompt_n":4,"predicted_n":9,"predicted_per_second":80}}')).toEqual({
    promptTokens: 4,
    completionTokens: 9,
    tokensPerSecond: 80,
  });
});

test('ignores the speed of a response of a few tokens', () => {
  expect(read('{"timings":{"predicted_n":1,"predicted_per_second":12803.07}}')).toEqual({
    promptTokens: null,
    completionTokens: 1,
    tokensPerSecond: null,
  });
  expect(read('{"usage":{"completion_tokens":4,"decoding_speed_tps":41.5}}').tokensPerSecond).toBeNull();
});

describe('counts before the text', () => {
  const first = '{"id":"cmpl-1","usage":{"prompt_tokens":7,"completion_tokens":12},"choices":["';
  const expectedUsage = { promptTokens: 7, completionTokens: 12, tokensPerSecond: null };
  const parts = (size: number, text: string) => text.match(new RegExp(`.{1,${size}}`, 'g')) as string[];
  const long = `${first}${'x'.repeat(20_000)}"]}`;

  test.each([30, 700, 4095, 4096, 5000, 1e6])(
    'are read from a long response in chunks of %d bytes',
    (size) => {
      expect(read(...parts(size, long))).toEqual(expectedUsage);
    },
  );
  test('counts at the end take precedence', () => {
    const end = '"usage":{"prompt_tokens":8,"completion_tokens":13}}';
    expect(read(...parts(700, `${long.slice(0, -1)},${end}`))).toMatchObject({ completionTokens: 13 });
  });
  test('are not read from a stream, whose beginning has no counts', () => {
    const tap = new UsageTap();
    tap.markStream();
    for (const part of parts(700, `data: ${long}`)) tap.push(Buffer.from(part));
    expect(tap.read()).toEqual(NO_USAGE);
  });
  test('only the first KiB is searched', () => {
    expect(read('x'.repeat(1000), ...parts(700, long))).toEqual(NO_USAGE);
  });
});

test.each([
  '',
  '{}',
  '{"usage":{',
  '{"usage":"x"}',
  '{"usage":{"prompt_tokens":-1}}',
  '{"usage":{"prompt_tokens":1e99}}',
])('%j has no counts', (text) => {
  expect(read(text)).toEqual(NO_USAGE);
});

test('keeps exactly the last 4 KiB, for any chunks', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 6000 }), { maxLength: 30 }), (sizes) => {
      const tap = new UsageTap();
      const all: Buffer[] = [];
      for (const [index, size] of sizes.entries()) {
        const chunk = Buffer.alloc(size, index);
        all.push(chunk);
        tap.push(chunk);
      }
      expect(tap.tail().equals(Buffer.concat(all).subarray(-4096))).toBe(true);
    }),
  );
});

test('reports dropped bytes in order, retains little more than the buffered end, and is independent of reused chunks', () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 6000 })), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(sizes, (all) => {
      let dropped = '';
      let next = '';
      const tap = new UsageTap((left, behind) => {
        expect(next === '' || left.toString('latin1').startsWith(next)).toBe(true);
        dropped += left.toString('latin1');
        next = behind.toString('latin1', 0, 20);
      });
      let text = '';
      for (const [index, size] of all.entries()) {
        const chunk = Buffer.alloc(size, 48 + (index % 70));
        text += chunk.toString('latin1');
        tap.push(chunk);
        if (index > 0 && size <= 1024) chunk.fill(0);
      }
      expect(dropped + tap.held().toString('latin1')).toBe(text);
      expect(tap.held().length).toBeLessThanOrEqual(4096 + Math.max(1024, ...all));
    }),
  );
});

test('cached tokens of llama.cpp belong to the prompt', () => {
  const timings = '"timings":{"cache_n":4407,"prompt_n":1,"predicted_n":8}';
  expect(read(`data: {"choices":[],${timings}}\n\n`)).toMatchObject({
    promptTokens: 4408,
    completionTokens: 8,
  });
  expect(read('{"timings":{"cache_n":3}}').promptTokens).toBeNull();
});
