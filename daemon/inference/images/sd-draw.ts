import { GatewayError } from '../../contract/errors.ts';
import { type Ask, askAt, badAnswer, listOf, objectOf, type Reply } from './ask.ts';
import type { Draw, Drawn, DrawOrder } from './image-job.ts';
import { DRAW_LIMIT_MS, MOST_ANSWER_BYTES } from './limits.ts';
import { sdPromptRequest, sdRequest } from './sd-request.ts';
import { Nudge } from './wakeable-delay.ts';

const ANSWER_MS = 15_000;
const LEAVE_MS = 5_000;
const MOST_SMALL = 1024 * 1024;
/** In Base64. */
const MOST_JSON = Math.ceil(MOST_ANSWER_BYTES / 3) * 4;
const PACE = { first: 100, longest: 1_000 } as const;

/**
 * Draws with stable-diffusion.cpp's server: as a job, which can be called off; a version without jobs is asked on its
 * OpenAI-style route, where it draws to the end whoever leaves.
 */
export const drawWithSdServer: Draw = async (order) => {
  const ask = askAt(order.outbound, order.place);
  const job = await submitted(ask, order);
  if (job === null) return drawAtOnce(ask, order);
  try {
    return { promptId: order.promptId, pictures: await followed(ask, job, order) };
  } finally {
    if (order.signal.aborted) await cancelled(ask, job);
  }
};

const jobPath = (id: string): string => `/sdcpp/v1/jobs/${encodeURIComponent(id)}`;

/** The id of the new job; null for a server without jobs. It is not called off in between: only then it can be. */
async function submitted(ask: Ask, { drawing }: DrawOrder): Promise<string | null> {
  const body = sdRequest(drawing);
  const limits = { limitMs: ANSWER_MS, mostBytes: MOST_SMALL };
  const reply = await ask({ path: '/sdcpp/v1/img_gen', body, ...limits }, new AbortController().signal);
  if (reply.status === 404 || reply.status === 405) return null;
  if (reply.status >= 300) throw refusal(reply);
  const { id } = objectOf(reply.json());
  if (typeof id !== 'string' || id === '') {
    throw badAnswer('The image engine did not say which job it made.');
  }
  return id;
}

/** Waits for the end of a job; its pictures, or throws what went wrong. */
async function followed(ask: Ask, id: string, { signal, progress }: DrawOrder): Promise<Buffer[]> {
  const pause = new Nudge();
  for (let wait: number = PACE.first; ; wait = Math.min(PACE.longest, wait * 1.5)) {
    const reply = await ask({ path: jobPath(id), limitMs: 60_000, mostBytes: MOST_JSON }, signal);
    if (reply.status !== 200) throw badAnswer('The image engine has lost the job.', undefined, 'lost');
    const { status, result } = objectOf(reply.json());
    if (status === 'completed') return picturesIn(objectOf(result).images);
    if (status === 'cancelled') {
      throw badAnswer('The drawing was interrupted at the image engine.', undefined, 'interrupted');
    }
    if (status !== 'queued' && status !== 'generating') {
      throw badAnswer('The image engine failed while it was drawing.', undefined, 'execution_error');
    }
    progress({ state: status === 'queued' ? 'queued' : 'drawing', share: null });
    await pause.wait(wait, signal);
  }
}

async function cancelled(ask: Ask, id: string): Promise<void> {
  const question = { path: `${jobPath(id)}/cancel`, body: {}, limitMs: LEAVE_MS, mostBytes: MOST_SMALL };
  await ask(question, AbortSignal.timeout(LEAVE_MS)).catch(() => {});
}

async function drawAtOnce(ask: Ask, { drawing, promptId, signal, progress }: DrawOrder): Promise<Drawn> {
  progress({ state: 'drawing', share: null });
  const body = sdPromptRequest(drawing);
  const limits = { limitMs: DRAW_LIMIT_MS, mostBytes: MOST_JSON };
  const reply = await ask({ path: '/v1/images/generations', body, ...limits }, signal);
  if (reply.status >= 300) throw refusal(reply);
  return { promptId, pictures: picturesIn(objectOf(reply.json()).data) };
}

/** Its errors hold names of files, so that only their kind is told. */
function refusal({ status }: Reply): GatewayError {
  if (status !== 429) {
    return badAnswer('The image engine refused the drawing.', undefined, `status_${status}`);
  }
  return new GatewayError('upstream.error', {
    status: 429,
    message: 'The queue of the image engine is full.',
    details: { reason: 'queue_full' },
    retryAfterS: 10,
  });
}

/** Pictures as `b64_json` in a list. */
export function picturesIn(list: unknown): Buffer[] {
  const pictures = listOf(list).map((each) => {
    const { b64_json } = objectOf(each);
    if (typeof b64_json !== 'string')
      throw badAnswer('The image engine answered without the picture itself.');
    return Buffer.from(b64_json, 'base64');
  });
  if (pictures.length === 0) throw badAnswer('The image engine ended without a picture.');
  return pictures;
}
