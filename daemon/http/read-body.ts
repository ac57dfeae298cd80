import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { ZodType, z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import type { BodyKind } from '../contract/routes.ts';
import { BodyBuffer } from '../lib/perf/body-buffer.ts';
import { zodMessage } from '../lib/text/zod-message.ts';
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

/** Deepest nesting of a JSON body. */
export const MAX_DEPTH = 64;

/** Refuses by the declared length, before a byte is read, and any content coding. */
export function checkDeclared(req: IncomingMessage, kind: BodyKind): void {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > BODY_CAPS[kind]) throw tooLarge(kind);
  const coding = req.headers['content-encoding'];
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') {
    throw new GatewayError('request.unsupported_type', { message: 'Compressed bodies are not accepted.' });
  }
}

const tooLarge = (kind: BodyKind) =>
  new GatewayError('request.too_large', { details: { limit_bytes: BODY_CAPS[kind] } });

/** What koa-body takes for a name: it begins with a letter or digit and has at most 127 characters, `+json` among them. */
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

/** Whether all texts and keys of a parsed JSON value are Unicode: escapes can spell what no file can hold. */
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

/** Reads koa-body in with the first body that wants it: it is 70 ms and 10 MB of a start, for a parser of forms and files above all. */
async function loadParsers() {
  const { koaBody } = await import('koa-body');
  return { auth: koaBody(parserOptions('auth')), api: koaBody(parserOptions('api')) } as const;
}

let parsers: ReturnType<typeof loadParsers> | undefined;

/** The parsers; a reading that failed (no file could be opened) is tried anew by the next body. */
function loadParsersOnce(): ReturnType<typeof loadParsers> {
  parsers ??= loadParsers().catch((error: unknown) => {
    parsers = undefined;
    throw error;
  });
  return parsers;
}

function parserOptions(kind: 'auth' | 'api') {
  return {
    multipart: false,
    urlencoded: false,
    text: false,
    json: true,
    jsonTypes: ['application/json', 'application/*+json'],
    jsonStrict: false,
    jsonLimit: BODY_CAPS[kind],
    onError: (error: Error) => {
      throw bodyError(error, kind);
    },
  };
}

function bodyError(error: Error & { status?: number; type?: string }, kind: BodyKind): GatewayError {
  if (error.status === 413 || error.type === 'entity.too.large') return tooLarge(kind);
  return new GatewayError('request.invalid_json', { cause: error });
}

/**
 * Reads an `/api` JSON body through koa-body and checks it against `schema`. An empty body is `undefined`.
 * Throws 413, 415, 400 `request.invalid_json` (also for invalid UTF-8 and depth), 422 `request.invalid`.
 */
export async function readApiBody(
  ctx: Context,
  kind: 'auth' | 'api',
  schema: ZodType | undefined,
): Promise<unknown> {
  const { req, res } = ctx;
  checkDeclared(req, kind);
  const present =
    req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  if (!present) return parseWith(schema, undefined);
  if (isUntypedStream(req) && (await readBytes(req, res, kind)).bytes.length === 0) {
    return parseWith(schema, undefined);
  }
  if (!isJsonType(req.headers['content-type'])) throw new GatewayError('request.unsupported_type');
  sendContinue(req, res);
  const bytes = await parseThrough(ctx, kind);
  // A body that the parser does not know for one would count as none, and a default would stand in for what it says.
  if (ctx.request.body === undefined) throw new GatewayError('request.unsupported_type');
  if (bytes.length === 0) return parseWith(schema, undefined);
  const body: unknown = ctx.request.body;
  const flaw = bodyProblem(body, bytes);
  if (flaw !== null) throw new GatewayError('request.invalid_json', { message: flaw });
  return parseWith(schema, body);
}

/** Whether only the end of a body tells if it has bytes at all: a chunked one that names no type may well be empty. */
const isUntypedStream = ({ headers }: IncomingMessage): boolean =>
  headers['content-type'] === undefined && headers['transfer-encoding'] !== undefined;

/** What is wrong with a body that a parser lets pass, or null: nothing may be repaired silently on its way. */
function bodyProblem(body: unknown, bytes: Buffer): string | null {
  if (!isUtf8(bytes)) return 'The body is not valid UTF-8.';
  if (isDeeperThan(body, MAX_DEPTH)) return `The body nests deeper than ${MAX_DEPTH} levels.`;
  return isWellFormed(body) ? null : 'The body contains an unpaired surrogate.';
}

/** Lets koa-body parse the body and answers the bytes it was made of: its decoder repairs what is no UTF-8. */
async function parseThrough(ctx: Context, kind: 'auth' | 'api'): Promise<Buffer> {
  const parse = (await loadParsersOnce())[kind];
  if (isDisconnected(ctx.req)) throw bodyAborted();
  const chunks: Buffer[] = [];
  const keep = (chunk: Buffer) => void chunks.push(chunk);
  ctx.req.on('data', keep);
  try {
    await parse(ctx, async () => {});
  } finally {
    ctx.req.off('data', keep);
  }
  return Buffer.concat(chunks);
}

/** Checks a value; `details.fields` names path and reason, never the value. */
export function parseWith(schema: ZodType | undefined, value: unknown): unknown {
  if (!schema) return value;
  const result = schema.safeParse(value === undefined ? {} : value);
  if (result.success) return result.data;
  const fields = result.error.issues.flatMap(fieldsOf).slice(0, 32);
  throw new GatewayError('request.invalid', { details: { fields } });
}

/** Takes the next bytes of a body; more come once a promise that it gave is fulfilled. What it throws ends the reading. */
export type ConsumeBytes = (chunk: Buffer) => Promise<void> | undefined;

/**
 * Hands a body over as it comes, under its cap. Rejects with 413, 415, 400 when it breaks off, with what `take` rejects
 * with, and with the signal's reason; what still comes then is taken and thrown away.
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
    /** What is being taken; the end of a body may be told before its last bytes were. */
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

/** Whether the caller went before its body was read: no event tells so any more. */
const isDisconnected = (req: IncomingMessage): boolean => req.destroyed && !req.readableEnded;

const bodyAborted = () =>
  new GatewayError('request.malformed', { message: 'The connection closed before the whole body arrived.' });

/** Longest name of a key of the caller's that is told back. */
const MAX_NAME_LENGTH = 64;

/** An issue as the fields it is about: each key that a strict body does not take is a field of its own. */
function fieldsOf(issue: z.core.$ZodIssue): { path: string; reason: string }[] {
  const place = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...place, key.slice(0, MAX_NAME_LENGTH)].join('.'),
      reason: 'cannot be set here',
    }));
  }
  return [{ path: place.join('.'), reason: zodMessage(issue) }];
}

/** A body that was read, and how many milliseconds of the reading were work rather than a wait for its sender. */
export interface ReadBytes {
  readonly bytes: Buffer;
  readonly workMs: number;
}

/** Reads a `/v1` body into one Buffer under its cap; nothing is parsed. Throws 413, 415, 400 when it breaks off. */
export function readBytes(req: IncomingMessage, res: ServerResponse, kind: BodyKind): Promise<ReadBytes> {
  checkDeclared(req, kind);
  sendContinue(req, res);
  const cap = BODY_CAPS[kind];
  if (isDisconnected(req)) return Promise.reject(bodyAborted());
  return new Promise((resolve, reject) => {
    /** Both hold the promise, which holds the body: the request must not, which lives until its answer has been read. */
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
    // Taking the listeners out, which hear nothing more that matters, would cost as much as reading.
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
