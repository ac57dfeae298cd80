import { type FileHandle, open } from 'node:fs/promises';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { HubEndpoint } from '../hub/hop.ts';
import { refusalOf } from '../hub/hub-errors.ts';
import { type HubResponse, requestHub } from '../hub/hub-exchange.ts';
import { codeOf, HubStatus, retryAfterOf } from '../hub/hub-status.ts';
import type { Rate } from './rate.ts';

/** One file to transfer. */
export interface TransferOptions {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly endpoint: HubEndpoint;
  readonly repo: string;
  readonly revision: string;
  readonly path: string;
  readonly size: number;
  /** The target file. Existing content is the start of the file. */
  readonly part: string;
  /** The entity tag of the existing content. Null: unknown. */
  readonly etag: string | null;
  readonly rate: Rate;
  readonly idleMs: number;
  readonly signal: AbortSignal;
  /** Called with the response's entity tag before the first byte is written. */
  tagged(etag: string | null): void;
  /** Called with the number of bytes that exist now. */
  reached(bytes: number): void;
  /** Called at intervals. Throwing ends the transfer. */
  checkSpace(): Promise<void>;
}

/**
 * Why a response is no part of the file. `page`: a web page of a proxy or a login. `changed`: the server has other content
 * now, so existing data is useless. `differs`: it contradicts existing data, and either may be wrong. `other`: it says
 * nothing about existing data.
 */
export type Mismatch = 'page' | 'changed' | 'differs' | 'other';

/** The response is no part of the file. Its bytes are discarded. */
export class MismatchedResponse extends Error {
  override readonly name = 'WrongAnswer';
  readonly mismatch: Mismatch;

  constructor(message: string, mismatch: Mismatch = 'other') {
    super(message);
    this.mismatch = mismatch;
  }
}

/** Bytes between two checks of the free space, with a flush to the disk. */
const CHECK_BYTES = 64 << 20;

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Returns a strong entity tag, which guarantees identical bytes. Null for a weak one. */
const strong = (tag: string | undefined): string | null =>
  tag !== undefined && /^"[\x21\x23-\x7e]{1,512}"$/.test(tag) ? tag : null;

/**
 * Downloads the missing part of a file from its exact byte (RFC 9110 sections 13.1.5 and 14). A server that sends more of
 * the file than was requested must repeat the existing bytes. Starts again when the server names other content of the
 * right size. Never writes more bytes than the file has, and never removes existing bytes otherwise. Rejects with
 * MismatchedResponse, HubStatus, GatewayError `pull.*`, or the connection error.
 */
export async function transfer(order: TransferOptions): Promise<void> {
  const handle = await open(order.part, 'a+', 0o600);
  try {
    const have = await existingBytes(handle, order.size);
    order.reached(have);
    if (have === order.size && have > 0) return;
    const answer = await requestFile(order, have);
    try {
      const start = responseStart(answer, order, have);
      if (start.restarts) await handle.truncate(0);
      const existing = start.restarts ? 0 : have;
      await receive(answer, order, { handle, start, existing }).catch(async (error: unknown) => {
        if (!(error instanceof MismatchedResponse)) throw error;
        await handle.truncate(existing);
        order.reached(existing);
        throw error;
      });
    } finally {
      answer.body.destroy();
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Returns the existing bytes. Zero when there are more than the file has. */
async function existingBytes(handle: FileHandle, size: number): Promise<number> {
  const { size: have } = await handle.stat();
  if (have <= size) return have;
  await handle.truncate(0);
  return 0;
}

function requestFile(order: TransferOptions, have: number): Promise<HubResponse> {
  const { outbound, endpoint, repo, revision, path, etag, idleMs, signal } = order;
  const ranged = have > 0 ? { range: `bytes=${have}-`, ...(etag === null ? {} : { 'if-range': etag }) } : {};
  return requestHub({
    outbound,
    endpoint: endpoint,
    path: `/${encoded(repo)}/resolve/${encodeURIComponent(revision)}/${encoded(path)}`,
    headers: ranged,
    idleMs,
    signal,
  });
}

/** Where the content of a response belongs in the file. */
interface ResponseStart {
  readonly at: number;
  /** The server has other content than before, of the right size. */
  readonly restarts: boolean;
  /** Whether the response says which bytes these are, so that a clean end is a broken connection. */
  readonly isIdentified: boolean;
}

const PAGE = 'a web page came instead of the file';
const PAGE_TYPE = /^\s*(text\/html|application\/xhtml\+xml)\b/i;
const PAGE_START = /^\uFEFF?\s*<(!doctype html|html[\s>])/i;
/** Files that may begin like a web page. */
const TEXT_FILE = /\.(txt|jinja|json|model)$/i;

/** Returns where the response starts. Throws for a response that is no part of the file. Pure. */
function responseStart(answer: HubResponse, order: TransferOptions, have: number): ResponseStart {
  const { status, headers } = answer;
  const { size } = order;
  if (status !== 200 && status !== 206) throw refusal(answer, order, have);
  if (PAGE_TYPE.test(headers['content-type'] ?? '')) throw new MismatchedResponse(PAGE, 'page');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new MismatchedResponse('the response is compressed');
  const tag = strong(headers.etag);
  const isOther = order.etag !== null && tag !== null && tag !== order.etag;
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '');
  if (status === 206 || range !== null) {
    const [, from, of] = range ?? [];
    if (from === undefined || Number(from) > have)
      throw new MismatchedResponse('the response is another range');
    if (of !== '*' && Number(of) !== size)
      throw new MismatchedResponse('the file has another size', 'changed');
    if (isOther) throw new MismatchedResponse('the file has changed', 'changed');
    return { at: Number(from), restarts: false, isIdentified: true };
  }
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== size)
    throw new MismatchedResponse('the file has another size');
  const isSame = tag !== null && tag === order.etag;
  return { at: 0, restarts: isOther && length !== undefined, isIdentified: length !== undefined || isSame };
}

/** Returns the error for a status that refuses the file. */
function refusal(
  { status, headers, hubHeaders, own }: HubResponse,
  order: TransferOptions,
  have: number,
): Error {
  if (status === 416 && have > 0) {
    const isWhole = headers['content-range'] === `bytes */${order.size}`;
    return new MismatchedResponse('the server has no such range', isWhole ? 'other' : 'changed');
  }
  const withToken = own && order.endpoint.token !== null;
  const code = codeOf(headers) ?? codeOf(hubHeaders);
  const failed = new HubStatus(status, code, { retryAfterS: retryAfterOf(headers), withToken });
  // A storage refuses an expired link like this, and a firewall a request that it does not like.
  if (status === 403 && code === null) return failed;
  return refusalOf({ status, code, withToken }) ?? failed;
}

interface Target {
  readonly handle: FileHandle;
  readonly start: ResponseStart;
  /** Existing bytes of the file. */
  readonly existing: number;
}

async function receive(
  answer: HubResponse,
  order: TransferOptions,
  { handle, start, existing }: Target,
): Promise<void> {
  const { size, rate, signal } = order;
  const tag = strong(answer.headers.etag);
  let { at } = start;
  let written = existing;
  let checkedAt = existing;
  if (at === existing) order.tagged(tag);
  for await (const piece of answer.body) {
    const chunk = piece as Buffer;
    if (at === 0 && isPage(chunk, order.path)) throw new MismatchedResponse(PAGE, 'page');
    if (at + chunk.length > size)
      throw new MismatchedResponse('the server sends more bytes than the file has');
    await rate.acquire(chunk.length, signal);
    const repeated = Math.min(chunk.length, Math.max(0, existing - at));
    if (!(await isRepeated(handle, chunk.subarray(0, repeated), at)))
      throw new MismatchedResponse('the file differs from what was downloaded before', 'differs');
    at += chunk.length;
    if (repeated === chunk.length) continue;
    if (at - chunk.length < existing) order.tagged(tag);
    await writeAll(handle, chunk.subarray(repeated));
    written = at;
    order.reached(at);
    if (at - checkedAt < CHECK_BYTES) continue;
    checkedAt = at;
    await handle.datasync();
    await order.checkSpace();
  }
  const failure = answer.failure();
  if (failure !== null) throw failure;
  if (written === size) return;
  if (!start.isIdentified) throw new MismatchedResponse('the response ended before the file was complete');
  throw Object.assign(new Error('the connection ended early'), { code: 'ECONNRESET' });
}

const isPage = (chunk: Buffer, path: string): boolean =>
  !TEXT_FILE.test(path) && PAGE_START.test(chunk.toString('utf8', 0, 64));

/** Returns whether the file has these bytes at this offset. */
async function isRepeated(handle: FileHandle, bytes: Buffer, at: number): Promise<boolean> {
  if (bytes.length === 0) return true;
  const found = Buffer.allocUnsafe(bytes.length);
  const { bytesRead } = await handle.read(found, 0, bytes.length, at);
  return bytesRead === bytes.length && found.equals(bytes);
}

async function writeAll(handle: FileHandle, chunk: Buffer): Promise<void> {
  let written = 0;
  while (written < chunk.length) {
    const { bytesWritten } = await handle.write(chunk, written, chunk.length - written);
    written += bytesWritten;
  }
}
