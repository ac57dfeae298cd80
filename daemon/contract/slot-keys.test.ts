import { expect, test } from 'vitest';
import type { ZodObject } from 'zod';
import { SLOT_KEYS } from './slot-keys.ts';
import { SlotSettings } from './slots.ts';

/** The object behind `.nullish()`. */
const inner = (schema: unknown): ZodObject | null => {
  const bare = (schema as { unwrap?(): { unwrap?(): unknown } }).unwrap?.().unwrap?.() as ZodObject;
  return bare && 'shape' in bare ? bare : null;
};

test('the described keys are those of the schema', () => {
  const keys = Object.entries(SlotSettings.shape).flatMap(([key, schema]) => {
    const nested = inner(schema);
    return nested ? Object.keys(nested.shape).map((name) => `${key}.${name}`) : [key];
  });
  expect(Object.keys(SLOT_KEYS).sort()).toEqual(keys.sort());
});

test('each documented type is accepted by the schema', () => {
  const example = { flag: true, number: 1, text: 'x', duration: '15 min' };
  for (const [key, { kind }] of Object.entries(SLOT_KEYS)) {
    if (key === 'type') continue;
    const [outer = '', name] = key.split('.');
    const body = name === undefined ? { [outer]: example[kind] } : { [outer]: { [name]: example[kind] } };
    expect(SlotSettings.safeParse(body).success, key).toBe(true);
  }
});
