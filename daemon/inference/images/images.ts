import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import type { GatewayEvents } from '../../contract/events.ts';
import type { ImagesResponse } from '../../contract/images.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import type { Log } from '../../lib/log.ts';
import { InvalidPngError, readPng } from '../../lib/media/png.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { CallScope } from '../forward/call-scope.ts';
import { ImageCache } from './cache.ts';
import type { ImageRequest } from './checks.ts';
import { drawWithComfy } from './comfy-draw.ts';
import { ignoredExtras } from './drawing.ts';
import { badAnswer, type Endpoint } from './engine-request.ts';
import type { DrawImages, ImageResult } from './image-job.ts';
import { DRAW_LIMIT_MS, MAX_IMAGE_BYTES, MAX_RESPONSE_BYTES, MAX_SIDE } from './limits.ts';
import { drawWithOpenAI } from './openai-draw.ts';
import { ProgressEmitter } from './progress-emitter.ts';
import { drawWithSdServer } from './sd-draw.ts';

/** The backend of each engine; all others, and every upstream, use OpenAI's API. */
const BACKENDS: Readonly<Record<string, DrawImages>> = {
  comfyui: drawWithComfy,
  'sd-server': drawWithSdServer,
};

export interface ImagesDeps {
  /** Folder of generated images. */
  readonly folder: string;
  readonly outbound: Outbound;
  readonly bus: Pick<EventBus<GatewayEvents>, 'emit'>;
  readonly log: Log;
  /** Overrides the limit of 600 s (docs/spec/contract.md#image-limit), in milliseconds. */
  readonly limitMs?: number;
}

export interface ImageCall {
  /** `x-request-id`. */
  readonly requestId: string;
  readonly request: ImageRequest;
  /** The serving slot; null for an upstream. */
  readonly slot: string | null;
  /** The name of the serving slot or upstream. */
  readonly provider: string;
  /** Null for an upstream. */
  readonly engine: string | null;
  readonly endpoint: Endpoint;
  readonly base: string;
  readonly engineModel: string | null;
  readonly scope: CallScope;
  /** Sets the listener for the end of the call because its upstream is down. */
  onDown?(listener: (reason: GatewayError) => void): void;
}

/**
 * Generates images, checks them by content and stores them for their callers
 * (docs/spec/specification.md#images).
 */
export class Images {
  readonly cache: ImageCache;
  readonly #deps: ImagesDeps;
  /** Running jobs, including the cancellation at their engines. */
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: ImagesDeps) {
    this.#deps = options;
    this.cache = new ImageCache({ folder: options.folder, log: options.log });
  }

  /**
   * Generates one response. Rejects with a GatewayError, or with the end reason of the scope after the engine
   * was stopped.
   */
  async generate(job: ImageCall): Promise<ImagesResponse> {
    const started = performance.now();
    const image = this.#draw(job);
    this.#running.add(image);
    try {
      const { promptId, images } = await image;
      const data = await this.#deliver(job, images);
      return responseOf(job, { promptId, data, ms: Math.round(performance.now() - started) });
    } finally {
      this.#running.delete(image);
    }
  }

  /** Resolves when every running engine has been stopped. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #draw(job: ImageCall): Promise<ImageResult> {
    const { request, engine, scope, endpoint, base, engineModel } = job;
    const { outbound, bus, limitMs = DRAW_LIMIT_MS } = this.#deps;
    const control = new AbortController();
    const forget = scope.onEnd((reason) => control.abort(reason));
    job.onDown?.((reason) => control.abort(reason));
    const late = setTimeout(() => control.abort(timeLimitReached(limitMs)), limitMs);
    const promptId = randomUUID();
    const emitter = new ProgressEmitter(bus, {
      id: promptId,
      request: job.requestId,
      model: request.drawing.model.id,
      slot: job.slot,
    });
    const draw = BACKENDS[engine ?? ''] ?? drawWithOpenAI;
    try {
      control.signal.throwIfAborted();
      const image = await draw({
        outbound,
        endpoint,
        base,
        engineModel,
        drawing: request.drawing,
        requestedExtras: request.requestedExtras,
        promptId,
        signal: control.signal,
        progress: (progress) => emitter.emit(progress),
      });
      control.signal.throwIfAborted();
      emitter.done();
      return image;
    } catch (error) {
      emitter.failed();
      throw control.signal.aborted ? control.signal.reason : error;
    } finally {
      clearTimeout(late);
      forget();
    }
  }

  async #deliver({ request, requestId }: ImageCall, images: readonly Buffer[]) {
    const { log } = this.#deps;
    const checked = checkedImages(images.slice(0, request.drawing.count));
    if (request.form === 'b64_json') return checked.map((png) => ({ b64_json: png.toString('base64') }));
    const data: { url: string }[] = [];
    for (const png of checked) {
      const id = await this.cache.store(png).catch((error: unknown) => {
        log.error({ request: requestId, err: error }, 'an image could not be stored');
        throw error;
      });
      data.push({ url: `/api/images/cache/${id}.png` });
    }
    return data;
  }
}

/** Accepts only valid PNG files, and removes the metadata that the engine wrote. */
function checkedImages(images: readonly Buffer[]): Buffer[] {
  const total = images.reduce((sum, { length }) => sum + length, 0);
  if (total > MAX_RESPONSE_BYTES || images.some(({ length }) => length > MAX_IMAGE_BYTES)) {
    throw badAnswer('The images from the image engine are larger than the limit.', undefined, 'bad_image');
  }
  try {
    return images.map((bytes) => readPng(bytes, MAX_SIDE).bytes);
  } catch (cause) {
    if (!(cause instanceof InvalidPngError)) throw cause;
    throw badAnswer('The image from the image engine is not a complete PNG.', cause, 'bad_image');
  }
}

const timeLimitReached = (limitMs: number): GatewayError =>
  new GatewayError('dispatch.upstream_timeout', {
    message: `The image was not finished within ${Math.round(limitMs / 1000)} s.`,
    noRetry: true,
  });

interface DeliveredImages {
  readonly promptId: string;
  readonly data: ImagesResponse['data'];
  readonly ms: number;
}

function responseOf(
  { request, provider }: ImageCall,
  { promptId, data, ms }: DeliveredImages,
): ImagesResponse {
  const { model, seed, steps, cfg, width, height } = request.drawing;
  const { sampler, family, licence } = model;
  const ignored = ignoredExtras(model, request.requestedExtras);
  const meta = { seed, steps, cfg, width, height, sampler, family, licence, duration_ms: ms };
  return {
    created: Math.floor(Date.now() / 1000),
    data,
    _svc: {
      meta: { ...meta, ...(ignored.length > 0 && { ignored }) },
      prompt_id: promptId,
      upstream: provider,
      model: model.id,
    },
  };
}
