import { GatewayError } from '../../contract/errors.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import { queryUpstream } from '../../upstreams/query-upstream.ts';
import { maskedMessage } from '../audio/mask.ts';
import { judge } from '../forward/engine-error.ts';
import { credentialsOf, redactCredentials } from '../forward/own-credential.ts';
import {
  badAnswer,
  type Endpoint,
  type EngineReply,
  listOf,
  objectOf,
  requestSender,
} from './engine-request.ts';
import { DRAW_LIMIT_MS, MAX_IMAGE_BYTES, MAX_RESPONSE_BYTES } from './limits.ts';

/** Encoded as Base64. */
const MAX_JSON_BYTES = Math.ceil(MAX_RESPONSE_BYTES / 3) * 4;
const DOWNLOAD_LIMIT_MS = 60_000;
const MAX_REVISED_LENGTH = 32_000;
/** Images of one response; OpenAI's limit. */
const MAX_IMAGES = 10;

/** One request for a server that has OpenAI's image API. */
export interface ForwardedImage {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly endpoint: Endpoint;
  /** The path that contains `/images/generations`. */
  readonly base: string;
  readonly body: Buffer;
  readonly signal: AbortSignal;
}

/** The answer of the server, as far as the gateway passes it on. */
export interface ForwardedResult {
  readonly images: readonly { readonly bytes: Buffer; readonly revisedPrompt: string | null }[];
  /** `size`, `quality`, `background` and `usage` as the server reported them. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Sends a request unchanged and returns the images of the response (docs/spec/contract.md#upstream-images). Images that
 * the server returns as URLs are downloaded. Rejects with a GatewayError or the reason of the signal.
 */
export async function forwardImage(job: ForwardedImage): Promise<ForwardedResult> {
  const { endpoint, base, body, signal } = job;
  const reply = await requestSender(job.outbound, endpoint)(
    { path: `${base}/images/generations`, bytes: body, limitMs: DRAW_LIMIT_MS, maxBytes: MAX_JSON_BYTES },
    signal,
  );
  if (reply.status >= 300) throw refusalOf(reply, endpoint.headers);
  const answer = objectOf(reply.json());
  const rows = listOf(answer.data).slice(0, MAX_IMAGES).map(objectOf);
  if (rows.length === 0) throw badAnswer('The upstream answered without an image.');
  const images: { bytes: Buffer; revisedPrompt: string | null }[] = [];
  let total = 0;
  for (const { b64_json, url, revised_prompt } of rows) {
    const bytes = typeof b64_json === 'string' ? Buffer.from(b64_json, 'base64') : await download(url, job);
    total += bytes.length;
    if (total > MAX_RESPONSE_BYTES)
      throw badAnswer('The images are larger than the limit.', undefined, 'bad_image');
    images.push({ bytes, revisedPrompt: revisedOf(revised_prompt) });
  }
  return { images, fields: reportedFields(answer) };
}

const revisedOf = (text: unknown): string | null =>
  typeof text === 'string' && text !== '' && text.length <= MAX_REVISED_LENGTH ? text : null;

/** Returns the other fields of OpenAI's response that have their documented form. */
function reportedFields({
  size,
  quality,
  background,
  usage,
}: Record<string, unknown>): Record<string, unknown> {
  const words = Object.entries({ size, quality, background }).filter(
    ([, value]) => typeof value === 'string' && /^[\w-]{1,32}$/.test(value),
  );
  const { input_tokens, output_tokens, total_tokens, input_tokens_details } = objectOf(usage);
  const counts = { input_tokens, output_tokens, total_tokens };
  const isUsage = Object.values(counts).every((count) => Number.isSafeInteger(count));
  const details = Object.entries(objectOf(input_tokens_details)).filter(
    ([name, count]) => /^\w{1,32}$/.test(name) && Number.isSafeInteger(count),
  );
  return {
    ...Object.fromEntries(words),
    ...(isUsage && {
      usage: {
        ...counts,
        ...(details.length > 0 && { input_tokens_details: Object.fromEntries(details.slice(0, 8)) }),
      },
    }),
  };
}

/**
 * Downloads an image that the server refers to: with its credential from the server itself, otherwise without one and
 * from public addresses only. Redirects are not followed.
 */
async function download(address: unknown, { outbound, endpoint, signal }: ForwardedImage): Promise<Buffer> {
  const url =
    typeof address === 'string' && URL.canParse(address, endpoint.origin)
      ? new URL(address, endpoint.origin)
      : null;
  if (url === null || !['http:', 'https:', 'data:'].includes(url.protocol))
    throw badAnswer('The upstream answered without image data.');
  if (url.protocol === 'data:') return Buffer.from(url.pathname.replace(/^[^,]*,/, ''), 'base64');
  const isOwn = url.origin === new URL(endpoint.origin).origin;
  try {
    const { status, bytes } = await queryUpstream({
      outbound,
      limitMs: DOWNLOAD_LIMIT_MS,
      maxBytes: MAX_IMAGE_BYTES,
      signal,
      request: {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers: ['accept-encoding', 'identity', ...(isOwn ? Object.entries(endpoint.headers).flat() : [])],
        body: null,
        idleMs: DOWNLOAD_LIMIT_MS,
        publicOnly: !isOwn,
      },
    });
    if (status === 200) return bytes;
    throw badAnswer(
      `The image of the upstream could not be downloaded (status ${status}).`,
      undefined,
      'download',
    );
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof GatewayError) throw cause;
    throw badAnswer('The image of the upstream could not be downloaded.', cause, 'download');
  }
}

/** Returns the error of a third party: its status, and its message if harmless. */
function refusalOf({ status, bytes }: EngineReply, headers: Readonly<Record<string, string>>): GatewayError {
  const clean = redactCredentials(bytes.subarray(0, 64 * 1024), credentialsOf(headers));
  const verdict = judge({ status, bytes: clean, truncated: false });
  if (!verdict.passes && verdict.error.code !== 'upstream.error') return verdict.error;
  return new GatewayError('upstream.error', {
    status: status < 400 ? 502 : status,
    message: maskedMessage(clean) ?? undefined,
    details: { upstream_status: status },
  });
}
