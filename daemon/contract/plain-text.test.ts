import { expect, it } from 'vitest';
import { z } from 'zod';
import { plainText } from './plain-text.ts';
import type { RouteId } from './routes.ts';
import { REQUEST_SCHEMAS } from './schemas.ts';

const CONTROLS = ['\0', '\x01', '\t', '\n', '\r', '\x1b', '\x1f', '\x7f'];

it.each(CONTROLS)('refuses %j', (control) => {
  expect(plainText().safeParse(`a${control}b`).success).toBe(false);
});

it.each(['', 'a b', 'ключ', '模型', '\u0080', '\u2028', '😀'])('accepts %j', (text) => {
  expect(plainText().safeParse(text).success).toBe(true);
});

/** The routes whose bodies become lines of a configuration file. */
const WRITERS: readonly RouteId[] = [
  'upstream.create',
  'upstream.put',
  'slot.create',
  'slot.change',
  'slot.swap',
  'model.put',
  'model.register',
  'setup.apply',
];

type Schema = { type?: unknown; anyOf?: Schema[]; items?: Schema; properties?: Record<string, Schema> };

/** Returns bodies that have `text` at one place, for every place that takes a text. */
function bodiesWith(schema: Schema, text: string): unknown[] {
  const inner = (schema.anyOf ?? []).flatMap((each) => bodiesWith(each, text));
  if (schema.type === 'string') return [...inner, text];
  const items = schema.items === undefined ? [] : bodiesWith(schema.items, text).map((each) => [each]);
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
    bodiesWith(each, text).map((value) => ({ [name]: value })),
  );
  return [...inner, ...items, ...properties];
}

/** The reasons at the text, without those about fields that the body lacks. */
const isRefused = (schema: z.ZodType, body: unknown): boolean =>
  !!schema.safeParse(body).error?.issues.some((issue) => leafOf(body, issue.path) !== undefined);

const leafOf = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], body);

it.each(WRITERS)('no text of %s reaches a file with a control character', (id) => {
  const schema = REQUEST_SCHEMAS[id] as z.ZodType;
  const json = z.toJSONSchema(schema, { unrepresentable: 'any' }) as Schema;
  for (const control of CONTROLS) {
    const bodies = bodiesWith(json, `a${control}b`);
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) expect(isRefused(schema, body), JSON.stringify(body)).toBe(true);
  }
});
