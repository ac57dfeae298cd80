import type { ZodType, z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { invalidRequest } from '../contract/invalid-request.ts';
import { zodMessage } from '../contract/zod-message.ts';

/** Maximum nesting of a JSON body. */
export const MAX_DEPTH = 64;

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether a parsed JSON value nests deeper than `limit` containers; walks without recursion. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((each) => Object.values(each).filter(isContainer));
  }
  return false;
}

/**
 * Returns whether all texts and keys of a parsed JSON value are valid Unicode: escapes can encode unpaired
 * surrogates.
 */
export function isWellFormed(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const each = left.pop();
    if (typeof each === 'string' && !each.isWellFormed()) return false;
    if (!isContainer(each)) continue;
    for (const [key, inner] of Object.entries(each)) left.push(key, inner);
  }
  return true;
}

/** Parses JSON. Throws `request.invalid_json`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('request.invalid_json', { cause });
  }
}

export const notUtf8 = () =>
  new GatewayError('request.invalid_json', { message: 'The body is not valid UTF-8.' });

/** Checks a parsed body: nothing is repaired silently. Throws 400 `request.invalid_json`, 422 `request.invalid`. */
export function checkedBody(body: unknown): unknown {
  const flaw = isDeeperThan(body, MAX_DEPTH)
    ? `The body nests deeper than ${MAX_DEPTH} levels.`
    : isWellFormed(body)
      ? null
      : 'The body contains an unpaired surrogate.';
  if (flaw !== null) throw new GatewayError('request.invalid_json', { message: flaw });
  const path = prototypeKeyIn(body);
  if (path !== null) throw invalidRequest([{ path, reason: 'is not accepted as a name' }]);
  return body;
}

/**
 * Returns the path of a key that changes the prototype of an object which is copied key by key: `__proto__`, and
 * `prototype` below `constructor`. Null without one (docs/spec/contract.md#proto-keys).
 */
export function prototypeKeyIn(value: unknown): string | null {
  let level = [{ value, path: [] as readonly string[] }];
  while (level.length > 0) {
    const inner: typeof level = [];
    for (const { value: container, path } of level) {
      if (!isContainer(container)) continue;
      for (const [key, each] of Object.entries(container)) {
        const place = [...path, key];
        const isPrototype = key === 'prototype' && path.at(-1) === 'constructor';
        if (key === '__proto__' || isPrototype) return place.map(shortName).join('.');
        if (isContainer(each)) inner.push({ value: each, path: place });
      }
    }
    level = inner;
  }
  return null;
}

/** Validates a value. `details.fields` names path and reason, never the value. */
export function parseWith(schema: ZodType | undefined, value: unknown): unknown {
  if (!schema) return value;
  const result = schema.safeParse(value === undefined ? {} : value);
  if (result.success) return result.data;
  const fields = result.error.issues.flatMap(fieldsOf).slice(0, 32);
  throw invalidRequest(fields);
}

/** Maximum length of a caller's key name in an error. */
const MAX_NAME_LENGTH = 64;

const shortName = (key: string): string => key.slice(0, MAX_NAME_LENGTH);

/** Returns the fields of an issue. Each unknown key of a strict body is a separate field. */
function fieldsOf(issue: z.core.$ZodIssue): { path: string; reason: string }[] {
  const place = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...place, shortName(key)].join('.'),
      reason: 'cannot be set here',
    }));
  }
  return [{ path: place.join('.'), reason: zodMessage(issue) }];
}
