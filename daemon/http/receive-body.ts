import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { BodyKind } from '../contract/routes.ts';
import { BodyBuffer } from '../lib/perf/body-buffer.ts';
import { BODY_CAPS, bodyAborted, checkDeclared, isDisconnected, tooLarge } from './body-limits.ts';
import { BodyDecoder, type ContentCoding } from './content-coding.ts';
import { allowBodyDrain, discardRest, forbidDrain } from './lingering-close.ts';
import { sendContinue } from './send-continue.ts';

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
