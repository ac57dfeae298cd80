import { GatewayError } from '../../contract/errors.ts';
import { asList, asObject, type Json, parsed } from './json.ts';

/** Maps parts of a chat to paths in the caller's request, for example `input.0.content.1`. */
export type SourcePaths = WeakMap<object, string>;

/** Records the source path of a part of a chat, and returns the part. */
export function tagSource<T extends object>(sources: SourcePaths, place: string, part: T): T {
  sources.set(part, place);
  return part;
}

/** How a chat was made from a request of another API. */
export interface Origin {
  /** The caller's body. */
  readonly body: Buffer;
  readonly chat: Json;
  readonly sourcePaths: SourcePaths;
  /** Fields of the chat, and of a function (`function.name`), and their names in the caller's API. */
  readonly fields: Readonly<Record<string, string>>;
  /** The caller's type of an image part. */
  readonly imageType: string;
}

/**
 * Maps an error about the chat to the caller's request: its param, its fields, and what its message says of
 * them.
 */
export function toCallerError(origin: Origin, error: Json): Json {
  const { param, message, details } = error;
  const fields = asList(asObject(details)?.fields);
  const place = typeof param === 'string' ? sourcePathOf(origin, param) : undefined;
  return {
    ...error,
    ...(place === undefined ? {} : { param: place }),
    ...(place !== undefined && typeof message === 'string'
      ? { message: reworded(origin, message, String(param), place) }
      : {}),
    ...(fields.length === 0
      ? {}
      : { details: { ...asObject(details), fields: fields.map((field) => replaced(origin, field)) } }),
  };
}

/** Does the same for an error of the gateway itself. */
export function toCallerFailure(origin: Origin, failure: GatewayError): GatewayError {
  const { param, details } = failure.options;
  if (param === undefined && details?.fields === undefined) return failure;
  const { message } = failure;
  const callerError = toCallerError(origin, { message, param, details }) as typeof failure.options;
  return new GatewayError(failure.code, { ...failure.options, ...callerError, status: failure.status });
}

function replaced(origin: Origin, field: unknown): unknown {
  const path = asObject(field)?.path;
  return typeof path === 'string' ? { ...asObject(field), path: sourcePathOf(origin, path) } : field;
}

/** Replaces the field name only at the start of a message; elsewhere it may be an ordinary word. */
function reworded({ imageType }: Origin, message: string, param: string, place: string): string {
  const named = message.startsWith(`${param}:`) ? `${place}${message.slice(param.length)}` : message;
  return named.replaceAll('"image_url"', `"${imageType}"`);
}

/**
 * Returns the caller's path for a path in the chat: that of the innermost part with a known source, else the
 * mapped field name.
 */
function sourcePathOf(origin: Origin, path: string): string {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  const noted = innermost(origin, steps);
  if (noted !== undefined) return path.includes('[') ? bracketed(noted) : noted;
  const name = [3, 2, 1]
    .map((most) => steps.slice(0, most).join('.'))
    .find((each) => Object.hasOwn(origin.fields, each));
  if (name === undefined) return path;
  const body = asObject(parsed(origin.body.toString('utf8'))) ?? {};
  return Object.hasOwn(body, steps[0] ?? '') ? path : (origin.fields[name] ?? path);
}

function innermost(origin: Origin, steps: readonly string[]): string | undefined {
  const { chat, sourcePaths, fields, body } = origin;
  let value: unknown = chat;
  let found: string | undefined;
  let rest: readonly string[] = [];
  for (const [at, step] of steps.entries()) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) break;
    value = (value as Json)[step];
    const source = typeof value === 'object' && value !== null ? sourcePaths.get(value) : undefined;
    if (source === undefined) continue;
    found = source;
    rest = steps.slice(at + 1);
  }
  if (found === undefined) return undefined;
  const name = rest.slice(0, 2).join('.');
  const inner = Object.hasOwn(fields, name) ? [fields[name], ...rest.slice(2)] : [];
  return asWritten([found, ...inner].join('.'), body);
}

/** Shortens a path to what the caller wrote: a string in place of a list has no inner paths. */
function asWritten(place: string, body: Buffer): string {
  const written: string[] = [];
  let value = parsed(body.toString('utf8'));
  for (const step of place.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) break;
    value = (value as Json)[step];
    written.push(step);
  }
  return written.join('.');
}

const bracketed = (place: string): string => place.replace(/\.(\d+)/g, '[$1]');
