import { GatewayError } from '../../contract/errors.ts';
import { maskedMessage } from '../audio/mask.ts';
import { judge } from '../forward/engine-error.ts';
import { credentialsOf, redactCredentials } from '../forward/own-credential.ts';
import type { Extra } from './drawing.ts';
import { type EngineReply, objectOf, requestSender } from './engine-request.ts';
import type { DrawImages, ImageJob } from './image-job.ts';
import { DRAW_LIMIT_MS, MAX_RESPONSE_BYTES } from './limits.ts';
import { imagesIn } from './sd-draw.ts';

/** Encoded as Base64. */
const MAX_JSON_BYTES = Math.ceil(MAX_RESPONSE_BYTES / 3) * 4;

/**
 * Returns the request for an OpenAI-style server, with parameters beyond OpenAI's only if the caller set
 * them. Pure.
 */
export function openaiRequest({ drawing, requestedExtras, engineModel }: ImageJob): Record<string, unknown> {
  const { seed, steps, cfg, negativePrompt } = drawing;
  const extras: Record<Extra, unknown> = { seed, steps, cfg, negative_prompt: negativePrompt };
  return {
    ...(engineModel === null ? {} : { model: engineModel }),
    prompt: drawing.prompt,
    n: drawing.count,
    size: `${drawing.width}x${drawing.height}`,
    response_format: 'b64_json',
    ...Object.fromEntries([...requestedExtras].map((name) => [name, extras[name]])),
  };
}

/** Draws with an OpenAI-style server: an upstream, or a program that the owner configured. */
export const drawWithOpenAI: DrawImages = async (job) => {
  const { endpoint, base, promptId, signal } = job;
  job.progress({ state: 'drawing', fraction: null });
  const reply = await requestSender(job.outbound, endpoint)(
    {
      path: `${base}/images/generations`,
      body: openaiRequest(job),
      limitMs: DRAW_LIMIT_MS,
      maxBytes: MAX_JSON_BYTES,
    },
    signal,
  );
  if (reply.status >= 300) throw refusal(reply, endpoint.headers);
  return { promptId, images: imagesIn(objectOf(reply.json()).data) };
};

/** Returns the error of a third party: its status, and its message if harmless. */
function refusal({ status, bytes }: EngineReply, headers: Readonly<Record<string, string>>): GatewayError {
  const clean = redactCredentials(bytes.subarray(0, 64 * 1024), credentialsOf(headers));
  const verdict = judge({ status, bytes: clean, truncated: false });
  if (!verdict.passes && verdict.error.code !== 'upstream.error') return verdict.error;
  return new GatewayError('upstream.error', {
    status: status < 400 ? 502 : status,
    message: maskedMessage(clean) ?? undefined,
    details: { upstream_status: status },
  });
}
