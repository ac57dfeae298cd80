import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { isDeeperThan, isWellFormed, MAX_DEPTH, parseWith, prototypeKeyIn } from './json-checks.ts';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('isDeeperThan', () => {
  it('B03 counts nesting without recursion', () => {
    expect(isDeeperThan(nested(MAX_DEPTH), MAX_DEPTH)).toBe(false);
    expect(isDeeperThan(nested(MAX_DEPTH + 1), MAX_DEPTH)).toBe(true);
    expect(isDeeperThan(nested(50_000), MAX_DEPTH)).toBe(true);
  });
  it('scalars have no depth', () => expect(isDeeperThan('x', MAX_DEPTH)).toBe(false));
});

describe('isWellFormed', () => {
  it.each(['"\\ud800"', '{"a":["\\udc00x"]}', '{"\\ud83d":1}', '["\\ude00\\ud83d"]'])(
    'B05 %s is not well-formed',
    (json) => expect(isWellFormed(JSON.parse(json))).toBe(false),
  );
  it.each(['"\\ud83d\\ude00"', '{"a":[1,null,true,"\ufffd"]}', '"\\\\ud800"', '7'])(
    '%s is well-formed',
    (json) => expect(isWellFormed(JSON.parse(json))).toBe(true),
  );
});

describe('prototypeKeyIn', () => {
  it.each([
    ['{"__proto__":1}', '__proto__'],
    ['{"a":[{"b":{"__proto__":{"x":1}}}]}', 'a.0.b.__proto__'],
    ['[{"__proto__":null}]', '0.__proto__'],
    ['{"\\u005f_proto__":1}', '__proto__'],
    ['{"constructor":{"prototype":{"x":1}}}', 'constructor.prototype'],
    ['{"a":{"constructor":{"y":1,"prototype":1}}}', 'a.constructor.prototype'],
  ])('%s has %s', (json, path) => expect(prototypeKeyIn(JSON.parse(json))).toBe(path));
  it.each([
    '{"constructor":"x"}',
    '{"prototype":{"constructor":1}}',
    '{"text":"__proto__"}',
    '["__proto__","constructor"]',
    '"__proto__"',
    'null',
  ])('%s has none', (json) => expect(prototypeKeyIn(JSON.parse(json))).toBeNull());
  it('walks deep values without recursion', () => expect(prototypeKeyIn(nested(20_000))).toBeNull());
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
  it('treats a missing body as an empty object and null as null', () => {
    const optional = z.object({ tier: z.string().default('admin') });
    expect(parseWith(optional, undefined)).toEqual({ tier: 'admin' });
    expect(() => parseWith(optional, null)).toThrow(GatewayError);
  });
});
