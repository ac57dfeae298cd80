import { expect, test } from 'vitest';
import { type ZodType, z } from 'zod';
import { zodMessage } from './zod-message.ts';

const kinds = z.discriminatedUnion('type', [
  z.object({ type: z.literal('a') }),
  z.object({ type: z.literal('b') }),
]);

test.each<[ZodType, unknown, string]>([
  [z.number(), 'abc', 'must be a number'],
  [z.number().int(), 1.5, 'must be a whole number'],
  [z.boolean(), 1, 'must be true or false'],
  [z.string(), 1, 'must be a text'],
  [z.string(), undefined, 'is required'],
  [z.array(z.string()), {}, 'must be a list'],
  [z.record(z.string(), z.string()), 1, 'must be an object'],
  [z.number().min(1), 0, 'must be 1 or more'],
  [z.number().max(9), 10, 'must be 9 or less'],
  [z.number().gt(0), 0, 'must be more than 0'],
  [z.number().lt(0), 0, 'must be less than 0'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(2), 'a', 'must have at least 2 characters'],
  [z.string().max(1), 'ab', 'must have at most 1 character'],
  [z.array(z.string()).max(0), [''], 'must have at most 0 entries'],
  [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
  [z.literal('a'), 'c', 'must be a'],
  [z.number().multipleOf(8), 4, 'must be a multiple of 8'],
  [z.string().regex(/^a/), 'b', 'must match /^a/'],
  [z.url(), 'b', 'must be a valid url'],
  [z.union([z.number(), z.string()]), true, 'must be a number or a text'],
  [
    z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
    {},
    'is not in any of the accepted forms',
  ],
  [kinds, { type: 'c' }, 'must be one of a, b'],
  [z.string().regex(/^a/, 'must begin with an a'), 'b', 'must begin with an a'],
  [z.string().refine(() => false, 'Invalid for once'), 'b', 'Invalid for once'],
])('%#: %j is described by the expected value', (schema, value, reason) => {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  expect(issue && zodMessage(issue)).toBe(reason);
});
