import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldOf, modelOf, scanBody, wantsStream } from './body-index.ts';

const index = (text: string) => scanBody(Buffer.from(text));
const code = (text: string) => {
  try {
    index(text);
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('agrees with JSON.parse on every wanted field, roles included', () => {
  const message = fc.record(
    { role: fc.oneof(fc.string(), fc.integer()), content: fc.jsonValue({ maxDepth: 2 }) },
    { requiredKeys: [] },
  );
  const body = fc.record(
    {
      model: fc.oneof(fc.string(), fc.constant(null)),
      stream: fc.boolean(),
      omni: fc.jsonValue({ maxDepth: 1 }),
      enable_thinking: fc.jsonValue({ maxDepth: 1 }),
      chat_template_kwargs: fc.jsonValue({ maxDepth: 2 }),
      messages: fc.oneof(fc.array(fc.oneof(message, fc.jsonValue({ maxDepth: 1 }))), fc.integer()),
      other: fc.jsonValue({ maxDepth: 3 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(body, fc.nat(2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const scanned = index(text);
      const parsed = JSON.parse(text) as Record<string, unknown>;
      for (const name of [
        'model',
        'stream',
        'omni',
        'enable_thinking',
        'chat_template_kwargs',
        'messages',
      ] as const) {
        const field = fieldOf(scanned, name);
        expect(field === undefined).toBe(!(name in parsed));
        if (field)
          expect(JSON.parse(scanned.bytes.toString('utf8', field.value.start, field.value.end))).toEqual(
            parsed[name],
          );
      }
      expect(scanned.members).toBe(Object.keys(parsed).length);
      const list = Array.isArray(parsed.messages) ? (parsed.messages as { role?: unknown }[]) : [];
      const roles = list.map((each) =>
        typeof each?.role === 'string' && !Array.isArray(each) ? each.role : null,
      );
      expect(scanned.messages.map((each) => each.role)).toEqual(roles);
      expect(wantsStream(scanned)).toBe(parsed.stream === true);
    }),
    { numRuns: 1000 },
  );
});

describe('keys that are hard to find', () => {
  test('an escaped key is the field that it decodes to', () => {
    expect(modelOf(index('{"m\\u006fdel":"a"}'))).toBe('a');
    expect(modelOf(index('{"\\u006d\\u006f\\u0064\\u0065\\u006c":"a"}'))).toBe('a');
    expect(index('{"messages":[{"\\u0072ole":"syst\\u0065m"}]}').messages[0]?.role).toBe('system');
  });

  test('the last of two equal keys counts, and both are indexed', () => {
    const scanned = index('{"model":"a","x":{"model":"c"},"model":"b"}');
    expect(modelOf(scanned)).toBe('b');
    expect(scanned.fields).toHaveLength(2);
    expect(index('{"messages":[{"role":"user","role":"system"}]}').messages[0]).toMatchObject({
      role: 'system',
      isAmbiguous: true,
    });
  });

  test('ignores a nested field of that name', () => {
    expect(modelOf(index('{"metadata":{"model":"a"}}'))).toBeNull();
  });

  test('a model above 64 KiB is refused before dispatch, one of 64 KiB is not', () => {
    const named = (length: number) => index(JSON.stringify({ model: 'm'.repeat(length - 2) }));
    expect(modelOf(named(65_536))).toHaveLength(65_534);
    expect(() => modelOf(named(65_537))).toThrow(
      expect.objectContaining({
        code: 'request.invalid',
        options: expect.objectContaining({ param: 'model' }),
      }),
    );
  });
});

test.each([
  ['', 'request.invalid_json'],
  ['{"model":', 'request.invalid_json'],
  ['[1', 'request.invalid_json'],
  ['[]', 'request.invalid'],
  ['"x"', 'request.invalid'],
  ['null', 'request.invalid'],
  ['{}', 'ok'],
  [`{"a":${'['.repeat(63)}${']'.repeat(63)}}`, 'ok'],
  [`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'request.invalid_json'],
])('%.20s has the error %s', (text, expected) => {
  expect(code(text)).toBe(expected);
});

test('refuses too many messages', () => {
  expect(code(`{"messages":[${Array(100_001).fill('{}').join(',')}]}`)).toBe('request.invalid_json');
});

test('an absent, null or blank model is null; one that is not a string is refused', () => {
  for (const text of ['{}', '{"model":null}', '{"model":""}', '{"model":"  "}']) {
    expect(modelOf(index(text))).toBeNull();
  }
  expect(() => modelOf(index('{"model":7}'))).toThrowError(
    expect.objectContaining({ code: 'request.invalid' }),
  );
});
