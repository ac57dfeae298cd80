import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { deeperThan, isJsonType, MAX_DEPTH, parseWith, wellFormed } from './read-body.ts';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('isJsonType', () => {
  it.each([
    'application/json',
    'APPLICATION/JSON; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/x+json',
  ])('takes %s', (type) => expect(isJsonType(type)).toBe(true));
  it.each([
    undefined,
    '',
    'text/plain',
    'application/json; charset=utf-7',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
  ])('B06 refuses %s', (type) => expect(isJsonType(type)).toBe(false));
});

describe('deeperThan', () => {
  it('B03 counts nesting without recursion', () => {
    expect(deeperThan(nested(MAX_DEPTH), MAX_DEPTH)).toBe(false);
    expect(deeperThan(nested(MAX_DEPTH + 1), MAX_DEPTH)).toBe(true);
    expect(deeperThan(nested(50_000), MAX_DEPTH)).toBe(true);
  });
  it('scalars have no depth', () => expect(deeperThan('x', MAX_DEPTH)).toBe(false));
});

describe('wellFormed', () => {
  it.each(['"\\ud800"', '{"a":["\\udc00x"]}', '{"\\ud83d":1}', '["\\ude00\\ud83d"]'])(
    'B05 %s is not',
    (json) => expect(wellFormed(JSON.parse(json))).toBe(false),
  );
  it.each(['"\\ud83d\\ude00"', '{"a":[1,null,true,"\ufffd"]}', '"\\\\ud800"', '7'])('%s is', (json) =>
    expect(wellFormed(JSON.parse(json))).toBe(true),
  );
});

describe('parseWith', () => {
  const schema = z.object({ key: z.string() });
  it('names path and reason, never the value', () => {
    try {
      parseWith(schema, { key: 42_424_242 });
      expect.unreachable();
    } catch (error) {
      const failure = error as GatewayError;
      expect(failure.code).toBe('request.invalid');
      expect(JSON.stringify(failure.options.details)).toContain('"path":"key"');
      expect(JSON.stringify(failure.options.details)).not.toContain('42424242');
    }
  });
  it('takes a missing body as an empty object and null as null', () => {
    const optional = z.object({ tier: z.string().default('admin') });
    expect(parseWith(optional, undefined)).toEqual({ tier: 'admin' });
    expect(() => parseWith(optional, null)).toThrow(GatewayError);
  });
});
