import { GatewayError } from '../../contract/errors.ts';
import {
  badAnswer,
  DrawingFailed,
  type EngineReply,
  listOf,
  objectOf,
  requestSender,
  type SendRequest,
} from './engine-request.ts';
import type { DrawImages, ImageJob, ImageResult } from './image-job.ts';
import { DRAW_LIMIT_MS, MAX_RESPONSE_BYTES } from './limits.ts';
import { sdPromptRequest, sdRequest } from './sd-request.ts';
import { WakeableDelay } from './wakeable-delay.ts';

const RESPONSE_LIMIT_MS = 15_000;
const CANCEL_LIMIT_MS = 5_000;
const MAX_SMALL_BYTES = 1024 * 1024;
/** Encoded as Base64. */
const MAX_JSON_BYTES = Math.ceil(MAX_RESPONSE_BYTES / 3) * 4;
const POLL_MS = { first: 100, longest: 1_000 } as const;

/**
 * Draws with stable-diffusion.cpp's server: as a job, which can be cancelled while it is queued. A version without jobs is
 * called on its OpenAI-style route, where it always draws to the end.
 */
export const drawWithSdServer: DrawImages = async (order) => {
  const send = requestSender(order.outbound, order.endpoint);
  const job = await submitJob(send, order);
  if (job === null) return drawAtOnce(send, order);
  try {
    return { promptId: order.promptId, images: await pollJob(send, job, order) };
  } finally {
    if (order.signal.aborted && !(await cancelJob(send, job)))
      order.onUnstoppable(untilIdle(send, job, order.stopped));
  }
};

const jobPath = (id: string): string => `/sdcpp/v1/jobs/${encodeURIComponent(id)}`;

/**
 * Submits a job and returns its id; null for a server without jobs. Not abortable: only a submitted job can
 * be cancelled.
 */
async function submitJob(send: SendRequest, { drawing }: ImageJob): Promise<string | null> {
  const body = sdRequest(drawing);
  const limits = { limitMs: RESPONSE_LIMIT_MS, maxBytes: MAX_SMALL_BYTES };
  const reply = await send({ path: '/sdcpp/v1/img_gen', body, ...limits }, new AbortController().signal);
  if (reply.status === 404 || reply.status === 405) return null;
  if (reply.status >= 300) throw refusal(reply);
  const { id } = objectOf(reply.json());
  if (typeof id !== 'string' || id === '') {
    throw badAnswer('The response of the image engine has no job id.');
  }
  return id;
}

/** Waits for the end of a job and returns its images. Throws the failure of the job. */
async function pollJob(send: SendRequest, id: string, { signal, progress }: ImageJob): Promise<Buffer[]> {
  const pause = new WakeableDelay();
  for (let wait: number = POLL_MS.first; ; wait = Math.min(POLL_MS.longest, wait * 1.5)) {
    const reply = await send({ path: jobPath(id), limitMs: 60_000, maxBytes: MAX_JSON_BYTES }, signal);
    if (reply.status !== 200)
      throw badAnswer('The image engine has lost the job.', undefined, 'lost', reply.status);
    const { status, result, error } = objectOf(reply.json());
    if (status === 'completed') return imagesIn(objectOf(result).images);
    if (status === 'cancelled') {
      throw badAnswer('The drawing was interrupted at the image engine.', undefined, 'interrupted');
    }
    if (status !== 'queued' && status !== 'generating') {
      const { code, message } = objectOf(error);
      const failure = badAnswer(
        'The image engine failed while it was drawing.',
        undefined,
        'execution_error',
      );
      const isWord = typeof code === 'string' && /^\w{1,64}$/.test(code);
      throw new DrawingFailed(isWord ? failure.with({ details: { code } }) : failure, message);
    }
    progress({ state: status === 'queued' ? 'queued' : 'drawing', fraction: null });
    await pause.wait(wait, signal);
  }
}

/**
 * Cancels a job. Returns false when it may still be drawn: the server can cancel queued jobs only and refuses otherwise, and
 * one that is busy may not answer in time.
 */
async function cancelJob(send: SendRequest, id: string): Promise<boolean> {
  const question = {
    path: `${jobPath(id)}/cancel`,
    body: {},
    limitMs: CANCEL_LIMIT_MS,
    maxBytes: MAX_SMALL_BYTES,
  };
  const reply = await send(question, AbortSignal.timeout(CANCEL_LIMIT_MS)).catch(() => null);
  return reply !== null && reply.status !== 409;
}

/** Statuses of a job that occupies the server. */
const BUSY: ReadonlySet<unknown> = new Set(['queued', 'generating']);

/**
 * Waits until the server has drawn a job whose caller has left, at most as long as a drawing may take. The slot stays
 * busy until then, so that the next caller waits in the gateway's queue and not inside the server. Never throws.
 */
async function untilIdle(send: SendRequest, id: string, stopped: AbortSignal): Promise<void> {
  const pause = new WakeableDelay();
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(DRAW_LIMIT_MS)]);
  try {
    for (;;) {
      const reply = await send({ path: jobPath(id), limitMs: 60_000, maxBytes: MAX_JSON_BYTES }, signal);
      if (reply.status !== 200 || !BUSY.has(objectOf(reply.json()).status)) return;
      await pause.wait(POLL_MS.longest, signal);
    }
  } catch {
    // The server is gone, or the gateway stops.
  }
}

async function drawAtOnce(
  send: SendRequest,
  { drawing, promptId, signal, stopped, progress, onUnstoppable }: ImageJob,
): Promise<ImageResult> {
  signal.throwIfAborted();
  progress({ state: 'drawing', fraction: null });
  const body = sdPromptRequest(drawing);
  const limits = { limitMs: DRAW_LIMIT_MS, maxBytes: MAX_JSON_BYTES };
  const replied = send({ path: '/v1/images/generations', body, ...limits }, stopped);
  const reply = await orAborted(replied, signal).catch((error: unknown) => {
    if (signal.aborted) onUnstoppable(replied);
    throw error;
  });
  if (reply.status >= 300) throw refusal(reply);
  return { promptId, images: imagesIn(objectOf(reply.json()).data) };
}

/** Returns the result of `work`, which continues when the signal aborts. Rejects with the reason of the signal then. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Reports only the kind of the error, because its text contains file names. */
function refusal({ status }: EngineReply): GatewayError {
  if (status !== 429) {
    const message = `The image engine refused the drawing with HTTP status ${status}.`;
    return badAnswer(message, undefined, `status_${status}`, status);
  }
  return new GatewayError('upstream.error', {
    status: 429,
    message: 'The queue of the image engine is full.',
    details: { reason: 'queue_full' },
    retryAfterS: 10,
  });
}

/** Returns the images of a list with `b64_json`. */
export function imagesIn(list: unknown): Buffer[] {
  const images = listOf(list).map((each) => {
    const { b64_json } = objectOf(each);
    if (typeof b64_json !== 'string') throw badAnswer('The response of the image engine has no image data.');
    return Buffer.from(b64_json, 'base64');
  });
  if (images.length === 0) throw badAnswer('The image engine finished without an image.');
  return images;
}
