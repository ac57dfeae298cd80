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

/** The response does not fit the file. Existing data is useless. */
export class MismatchedResponse extends Error {
  override readonly name = 'WrongAnswer';
}

/** Bytes between two checks of the free space, with a flush to the disk. */
const CHECK_BYTES = 64 << 20;

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Returns a strong entity tag, which guarantees identical bytes. Null for a weak one. */
const strong = (tag: string | undefined): string | null =>
  tag !== undefined && /^"[\x21\x23-\x7e]{1,512}"$/.test(tag) ? tag : null;

/**
 * Downloads the missing part of a file from its exact byte (RFC 9110 sections 13.1.5 and 14). Starts again
 * when the server sends the whole file, because the content has changed or ranges are not supported. Never
 * writes more bytes than the file has. Rejects with MismatchedResponse, HubStatus, GatewayError `pull.*`, or
 * the connection error.
 */
export async function transfer(order: TransferOptions): Promise<void> {
  const handle = await open(order.part, 'a+', 0o600);
  try {
    const have = await existingBytes(handle, order.size);
    order.reached(have);
    if (have === order.size && have > 0) return;
    const answer = await requestFile(order, have);
    try {
      const from = await responseStart(answer, order, have, handle);
      order.tagged(strong(answer.headers.etag));
      await receive(answer, order, handle, from);
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

/** Returns the offset at which the response starts. Throws for a response that is no part of the file. */
async function responseStart(
  { status, headers, hubHeaders }: HubResponse,
  { size, endpoint }: TransferOptions,
  have: number,
  handle: FileHandle,
): Promise<number> {
  if (status === 416) throw new MismatchedResponse('the server has no such range');
  if (status !== 200 && status !== 206) {
    const code = codeOf(headers) ?? codeOf(hubHeaders);
    throw (
      refusalOf({ status, code, withToken: endpoint.token !== null }) ??
      new HubStatus(status, code, retryAfterOf(headers))
    );
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new MismatchedResponse('the answer is compressed');
  if (status === 206) {
    const [, from, of] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
    if (Number(from) !== have || Number(of) !== size)
      throw new MismatchedResponse('the answer is another range');
    return have;
  }
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== size)
    throw new MismatchedResponse('the file has another size');
  await handle.truncate(0);
  return 0;
}

async function receive(
  answer: HubResponse,
  order: TransferOptions,
  handle: FileHandle,
  from: number,
): Promise<void> {
  const { size, rate, signal } = order;
  let at = from;
  let checkedAt = from;
  for await (const piece of answer.body) {
    const chunk = piece as Buffer;
    if (at + chunk.length > size)
      throw new MismatchedResponse('the server sends more bytes than the file has');
    await rate.acquire(chunk.length, signal);
    await writeAll(handle, chunk);
    at += chunk.length;
    order.reached(at);
    if (at - checkedAt < CHECK_BYTES) continue;
    checkedAt = at;
    await handle.datasync();
    await order.checkSpace();
  }
  const failure = answer.failure();
  if (failure !== null) throw failure;
  if (at < size) throw Object.assign(new Error('the connection ended early'), { code: 'ECONNRESET' });
}

async function writeAll(handle: FileHandle, chunk: Buffer): Promise<void> {
  let written = 0;
  while (written < chunk.length) {
    const { bytesWritten } = await handle.write(chunk, written, chunk.length - written);
    written += bytesWritten;
  }
}
