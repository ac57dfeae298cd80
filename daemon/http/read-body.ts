import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { ZodType } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import type { MatchedRoute } from '../contract/routes.ts';
import { REQUEST_SCHEMAS } from '../contract/schemas.ts';
import type { RouteMiddleware } from '../routes/handler.ts';
import { BODY_CAPS, bodyAborted, checkDeclared, isDisconnected, tooLarge } from './body-limits.ts';
import { checkedBody, notUtf8, parseJson, parseWith } from './json-checks.ts';
import { readBytes } from './receive-body.ts';
import { sendContinue } from './send-continue.ts';

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

/** Whether a body may turn out to be empty only at its end: chunked, without a content type. */
const isUntypedStream = ({ headers }: IncomingMessage): boolean =>
  headers['content-type'] === undefined && headers['transfer-encoding'] !== undefined;
