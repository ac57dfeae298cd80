import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { ZodType, z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { invalidRequest } from '../contract/invalid-request.ts';
import type { BodyKind, MatchedRoute } from '../contract/routes.ts';
import { REQUEST_SCHEMAS } from '../contract/schemas.ts';
import { zodMessage } from '../contract/zod-message.ts';
import { BodyBuffer } from '../lib/perf/body-buffer.ts';
import type { RouteMiddleware } from '../routes/handler.ts';
import { BodyDecoder, type ContentCoding, contentCoding } from './content-coding.ts';
import { allowBodyDrain, discardRest, forbidDrain } from './lingering-close.ts';
import { sendContinue } from './send-continue.ts';

/**
 * Maximum bytes of a body, by kind (docs/spec/contract.md#caps). `audio` bodies are streamed by their handler
 * under the same cap.
 */
export const BODY_CAPS: Record<BodyKind, number> = {
  none: 16 * 1024,
  auth: 16 * 1024,
  api: 1024 * 1024,
  inference: 64 * 1024 * 1024,
  audio: 200 * 1024 * 1024,
};

/** Maximum nesting of a JSON body. */
export const MAX_DEPTH = 64;

/**
 * Refuses a too large declared length before a byte is read, and a content coding that is not supported.
 * Returns the coding. Multipart takes none, because its bytes are forwarded as sent
 * (docs/spec/contract.md#content-coding).
 */
export function checkDeclared(req: IncomingMessage, kind: BodyKind): ContentCoding | null {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > BODY_CAPS[kind]) throw tooLarge(kind);
  return contentCoding(req, kind !== 'audio' && !isMultipart(req.headers['content-type']));
}

const isMultipart = (type: string | undefined): boolean => /^\s*multipart\//i.test(type ?? '');

const tooLarge = (kind: BodyKind) =>
  new GatewayError('request.too_large', { details: { limit_bytes: BODY_CAPS[kind] } });

/**
 * Media types that koa-body accepts: starts with a letter or digit, at most 127 characters including `+json`.
 */
const JSON_NAME = /^application\/(?:json|[a-z0-9][a-z0-9.-]{0,121}\+json)$/;

/** Whether the media type is JSON in UTF-8. */
export function isJsonType(header: string | undefined): boolean {
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (!JSON_NAME.test(type)) return false;
  const charset = parameters.find((part) => part.startsWith('charset='));
  return charset === undefined || /^charset="?utf-?8"?$/.test(charset);
}

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

/**
 * Reads the body that a row declares into `ctx.request.body`. Inference and audio handlers read their own; of
 * all other rows the declared length and coding are checked only.
 */
export function readBody({ id, body: kind, method }: MatchedRoute): RouteMiddleware {
  if (kind === 'auth' || kind === 'api') {
    const schema: ZodType | undefined = REQUEST_SCHEMAS[id];
    return async (ctx, next) => {
      const body = await readApiBody(ctx, kind, schema);
      ctx.request.body = body as typeof ctx.request.body;
      return next();
    };
  }
  return (ctx, next) => {
    if (method !== 'GET') checkDeclared(ctx.req, kind);
    return next();
  };
}

type BodyContext = Pick<Context, 'req' | 'res' | 'request'>;

/** The parsers, loaded with the first body: koa-body costs 70 ms and 10 MB at start. A failed load is retried. */
let parsers: Promise<Record<'auth' | 'api', Middleware>> | undefined;

const loadParsers = () =>
  import('koa-body').then(
    ({ koaBody }) => ({ auth: koaBody(parserOptions('auth')), api: koaBody(parserOptions('api')) }),
    (error: unknown) => {
      parsers = undefined;
      throw error;
    },
  );

const parserOptions = (kind: 'auth' | 'api') => ({
  multipart: false,
  urlencoded: false,
  text: false,
  jsonTypes: ['application/json', 'application/*+json'],
  jsonStrict: false,
  jsonLimit: BODY_CAPS[kind],
  includeUnparsed: true,
  onError: (error: Error & { status?: number; body?: string }) => {
    if (error.status === 413) throw tooLarge(kind);
    // The parser refuses `__proto__` as if the text were not JSON. `checkedBody` has the right error.
    if (error.body !== undefined) checkedBody(parseJson(error.body));
    throw new GatewayError('request.invalid_json', { cause: error });
  },
});

/**
 * Reads an `/api` JSON body and checks it against `schema`. koa-body reads it, or `readBytes` where it has a content
 * coding, because koa-body knows no zstd. An empty body is `undefined`. Throws 413, 415, 400 `request.invalid_json` (also
 * for invalid UTF-8 and depth), 422 `request.invalid`.
 */
export async function readApiBody(
  ctx: BodyContext,
  kind: 'auth' | 'api',
  schema: ZodType | undefined,
): Promise<unknown> {
  const { req, res } = ctx;
  const coding = checkDeclared(req, kind);
  const present =
    req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  if (!present) return parseWith(schema, undefined);
  if (isUntypedStream(req) && (await readBytes(req, res, kind)).bytes.length === 0)
    return parseWith(schema, undefined);
  if (!isJsonType(req.headers['content-type'])) throw new GatewayError('request.unsupported_type');
  if (coding !== null) {
    const { bytes } = await readBytes(req, res, kind);
    if (bytes.length === 0) return parseWith(schema, undefined);
    if (!isUtf8(bytes)) throw notUtf8();
    return parseWith(schema, checkedBody(parseJson(bytes.toString())));
  }
  sendContinue(req, res);
  parsers ??= loadParsers();
  const parse = (await parsers)[kind];
  if (isDisconnected(req)) throw bodyAborted();
  const isValid = watchUtf8(req);
  await parse(ctx as Context, async () => {});
  const { rawBody, body } = ctx.request;
  // The parser did not recognise the body. It would count as absent, and a default would replace its content.
  if (rawBody === undefined) throw new GatewayError('request.unsupported_type');
  if (rawBody === '') return parseWith(schema, undefined);
  if (!isValid()) throw notUtf8();
  return parseWith(schema, checkedBody(body));
}

/** Checks the bytes of a body while koa-body reads them: its decoder replaces what is not UTF-8. */
function watchUtf8(req: IncomingMessage): () => boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let valid = true;
  const decode = (chunk?: Buffer) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      valid = false;
    }
  };
  req.on('data', decode);
  return () => {
    decode();
    return valid;
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('request.invalid_json', { cause });
  }
}

const notUtf8 = () => new GatewayError('request.invalid_json', { message: 'The body is not valid UTF-8.' });

/** Checks a parsed body: nothing is repaired silently. Throws 400 `request.invalid_json`, 422 `request.invalid`. */
function checkedBody(body: unknown): unknown {
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

/** Whether a body may turn out to be empty only at its end: chunked, without a content type. */
const isUntypedStream = ({ headers }: IncomingMessage): boolean =>
  headers['content-type'] === undefined && headers['transfer-encoding'] !== undefined;

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

/**
 * Consumes the next bytes of a body. More follow when the returned promise is fulfilled. An error ends the
 * reading.
 */
export type ConsumeBytes = (chunk: Buffer) => Promise<void> | undefined;

/**
 * Passes a body on while it is received, under its cap. Rejects with 413, 415, 400 when it is incomplete,
 * with what `take` rejects with, and with the signal's reason; the rest is discarded then.
 */
export async function receiveInto(
  req: IncomingMessage,
  res: ServerResponse,
  kind: BodyKind,
  take: ConsumeBytes,
  signal: AbortSignal,
): Promise<void> {
  checkDeclared(req, kind);
  sendContinue(req, res);
  allowBodyDrain(req, BODY_CAPS[kind]);
  return new Promise((resolve, reject) => {
    let size = 0;
    /** The pending consumption. `end` may be emitted before the last bytes are consumed. */
    let taking: Promise<void> = Promise.resolve();
    const done = (settle: () => void) => {
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const fail = (error: unknown) => {
      req.pause();
      done(() => reject(error));
    };
    const onAbort = () => {
      fail(signal.reason);
      discardRest(req);
    };
    const onEnd = () => {
      req.off('close', onBroken);
      taking.then(() => done(resolve), fail);
    };
    const onBroken = () => fail(bodyAborted());
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_CAPS[kind]) {
        forbidDrain(req);
        return fail(tooLarge(kind));
      }
      try {
        const taken = take(chunk);
        if (taken === undefined) return;
        taking = taken;
      } catch (error) {
        return fail(error);
      }
      req.pause();
      taking.then(() => req.resume(), fail);
    };
    if (signal.aborted) return onAbort();
    if (isDisconnected(req)) return reject(bodyAborted());
    signal.addEventListener('abort', onAbort, { once: true });
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

/** Whether the caller disconnected before its body was read. No event reports this any longer. */
const isDisconnected = (req: IncomingMessage): boolean => req.destroyed && !req.readableEnded;

const bodyAborted = () =>
  new GatewayError('request.malformed', { message: 'The connection closed before the whole body arrived.' });

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

/** A body, and how many milliseconds of the reading were work rather than waiting for the sender. */
export interface ReadBytes {
  readonly bytes: Buffer;
  readonly workMs: number;
}

/**
 * Reads a `/v1` body into one Buffer under its cap, decoded and without parsing. Throws 413, 415, and 400 when
 * it is incomplete or not of its coding.
 */
export function readBytes(req: IncomingMessage, res: ServerResponse, kind: BodyKind): Promise<ReadBytes> {
  const coding = checkDeclared(req, kind);
  sendContinue(req, res);
  const cap = BODY_CAPS[kind];
  if (isDisconnected(req)) return Promise.reject(bodyAborted());
  if (coding !== null) return readDecoded(req, kind, coding);
  return new Promise((resolve, reject) => {
    /**
     * Both reference the promise, which references the body. The request must not, because it lives until its
     * response was read.
     */
    let open: { resolve: typeof resolve; reject: typeof reject } | null = { resolve, reject };
    const gathered = new BodyBuffer(Number(req.headers['content-length'] ?? Number.NaN));
    let workMs = 0;
    const fail = (error: GatewayError) => {
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      gathered.discard();
      open?.reject(error);
      open = null;
    };
    const onData = (chunk: Buffer) => {
      if (gathered.length + chunk.length <= cap) {
        const since = performance.now();
        gathered.push(chunk);
        workMs += performance.now() - since;
        return;
      }
      req.pause();
      fail(tooLarge(kind));
    };
    // The listeners stay: removing them would cost as much as the reading.
    const onEnd = () => {
      open?.resolve({ bytes: gathered.take(), workMs });
      open = null;
    };
    const onBroken = () => {
      if (!req.readableEnded) fail(bodyAborted());
    };
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

/** Reads a coded body. The cap holds for the bytes on the wire and for the decoded ones. */
function readDecoded(req: IncomingMessage, kind: BodyKind, coding: ContentCoding): Promise<ReadBytes> {
  const cap = BODY_CAPS[kind];
  return new Promise((resolve, reject) => {
    let received = 0;
    const leave = () =>
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
    const fail = (error: GatewayError) => {
      leave();
      decoder.discard();
      req.pause();
      reject(error);
    };
    const decoder = new BodyDecoder(coding, cap, {
      drained: () => req.resume(),
      done: (bytes) => {
        leave();
        resolve({ bytes, workMs: 0 });
      },
      failed: (reason) => fail(reason === 'too-large' ? tooLarge(kind) : undecodable(coding)),
    });
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received > cap) fail(tooLarge(kind));
      else if (!decoder.push(chunk)) req.pause();
    };
    const onEnd = () => decoder.end();
    const onBroken = () => {
      if (!req.readableEnded) fail(bodyAborted());
    };
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

const undecodable = (coding: ContentCoding) =>
  new GatewayError('request.malformed', { message: `The body is not complete ${coding} data.` });
