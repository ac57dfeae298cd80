import { createServer, request } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../contract/errors.ts';
import { listenOnLoopback } from '../lib/testing/listening.ts';
import { BODY_CAPS } from './body-limits.ts';
import { contentCoding } from './content-coding.ts';
import { readBytes } from './receive-body.ts';

const TEXT = '{"model":"agent","input":"hi"}';
const CAP = BODY_CAPS.auth;

/** Returns the decoded body of a request as text, or the error code. */
async function read(body: Buffer, coding: string, type = 'application/json'): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const server = createServer((req, res) => {
    Promise.resolve()
      .then(() => readBytes(req, res, 'auth'))
      .then(
        ({ bytes }) => resolve(bytes.toString('utf8')),
        ({ code }: GatewayError) => resolve(code),
      )
      .finally(() => res.writeHead(200, { connection: 'close' }).end());
  });
  const headers = { 'content-type': type, 'content-encoding': coding };
  const sending = request({ port: await listenOnLoopback(server), method: 'POST', headers });
  sending.on('error', () => {});
  sending.on('response', (res) => res.resume());
  // Two pieces: a coded body may be split anywhere.
  sending.write(body.subarray(0, 5));
  sending.end(body.subarray(5));
  const outcome = await promise;
  server.close();
  server.closeAllConnections();
  return outcome;
}

describe('a coded body', () => {
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['GZIP', gzipSync(TEXT)],
    ['gzip', Buffer.concat([gzipSync(TEXT.slice(0, 9)), gzipSync(TEXT.slice(9))])],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    ['identity', Buffer.from(TEXT)],
  ])('in %s is decoded', async (coding, body) => expect(await read(body, coding)).toBe(TEXT));

  it.each(['gzip', 'deflate', 'br', 'zstd'])('without a byte is empty in %s', async (coding) =>
    expect(await read(Buffer.alloc(0), coding)).toBe(''),
  );

  it.each([
    ['plain text as gzip', 'gzip', Buffer.from(TEXT)],
    ['plain text as zstd', 'zstd', Buffer.from(TEXT)],
    ['plain text as br', 'br', Buffer.from(TEXT)],
    ['a gzip body without its end', 'gzip', gzipSync(TEXT).subarray(0, -9)],
    ['a zstd body without its end', 'zstd', zstdCompressSync(TEXT).subarray(0, -3)],
    ['a deflate body without its end', 'deflate', deflateSync(TEXT).subarray(0, -5)],
  ])('%s is 400', async (_, coding, body) => expect(await read(body, coding)).toBe('request.malformed'));
});

describe('the cap counts decoded bytes', () => {
  const fits = Buffer.alloc(CAP, 'a');
  const bomb = Buffer.alloc(64 * 1024 * 1024);

  it.each([
    ['gzip', gzipSync(bomb)],
    ['deflate', deflateSync(bomb)],
    ['br', brotliCompressSync(bomb)],
    ['zstd', zstdCompressSync(bomb)],
    ['gzip', gzipSync(Buffer.alloc(CAP + 1))],
  ])('a bomb in %s is 413', async (coding, body) =>
    expect(await read(body, coding)).toBe('request.too_large'),
  );

  it('a body of exactly the cap is read', async () =>
    expect(await read(gzipSync(fits), 'gzip')).toHaveLength(CAP));
});

describe('a coding that is not supported', () => {
  const refusal = (coding: string, accepted = true): GatewayError => {
    try {
      contentCoding({ headers: { 'content-encoding': coding } }, accepted);
    } catch (error) {
      return error as GatewayError;
    }
    return expect.unreachable('it was accepted');
  };

  it.each(['compress', 'gzip, gzip', 'identity, gzip', 'gzip;q=1', 'a-miracle', ''])(
    '%j is 415 that names the supported ones',
    (coding) => {
      const { code, status, message } = refusal(coding);
      expect([code, status]).toEqual(['request.unsupported_type', 415]);
      expect(refusal(coding).headers()['accept-encoding']).toBe('gzip, deflate, br, zstd');
      expect(message).not.toContain('a-miracle');
    },
  );

  it.each(['gzip', 'deflate', 'br', 'zstd', 'x'])('multipart in %s is 415', (coding) =>
    expect(refusal(coding, false).headers()['accept-encoding']).toBe('identity'),
  );

  it('multipart is recognised by its content type', async () => {
    const body = gzipSync(TEXT);
    expect(await read(body, 'gzip', 'multipart/form-data; boundary=x')).toBe('request.unsupported_type');
  });
});
