import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import type { GatewayEvents } from '../../contract/events.ts';
import type { ImagesResponse } from '../../contract/images.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import type { Log } from '../../lib/log.ts';
import { type ImageFormat, imageFormat } from '../../lib/media/image-format.ts';
import { InvalidPngError, readPng } from '../../lib/media/png.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { CallScope } from '../forward/call-scope.ts';
import { ImageCache } from './cache.ts';
import type { ImageForm, ImageRequest } from './checks.ts';
import { drawWithComfy } from './comfy-draw.ts';
import { convertPng } from './convert.ts';
import { ignoredExtras } from './drawing.ts';
import { badAnswer, DrawingFailed, type Endpoint } from './engine-request.ts';
import { forwardImage } from './forward-image.ts';
import type { DrawImages } from './image-job.ts';
import { DRAW_LIMIT_MS, MAX_IMAGE_BYTES, MAX_RESPONSE_BYTES, MAX_SIDE } from './limits.ts';
import { ProgressEmitter } from './progress-emitter.ts';
import { drawWithSdServer } from './sd-draw.ts';

/** The backend of each engine. Other engines and upstreams get the request as it came. */
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

/** A request that goes to its target as it came. */
export interface ForwardedRequest {
  /** The model as clients know it. */
  readonly model: string;
  readonly form: ImageForm;
  /** The wanted output; null when the request names no format. */
  readonly output: ImageRequest['output'] | null;
  /** The requested number of images. */
  readonly count: number;
  readonly body: Buffer;
}

/** The unchecked images of one call. */
interface Drawn {
  readonly promptId: string;
  readonly images: readonly { readonly bytes: Buffer; readonly revisedPrompt: string | null }[];
  /** Fields of the answer that an upstream reported. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A checked image. */
interface CheckedImage {
  readonly bytes: Buffer;
  readonly format: ImageFormat;
  readonly revisedPrompt: string | null;
  /** Pixels; null for a format other than PNG. */
  readonly size: readonly [number, number] | null;
}

const isForwardedRequest = (request: ImageRequest | ForwardedRequest): request is ForwardedRequest =>
  'body' in request;

export interface ImageCall {
  /** `x-request-id`. */
  readonly requestId: string;
  readonly request: ImageRequest | ForwardedRequest;
  /** The serving slot; null for an upstream. */
  readonly slot: string | null;
  /** The name of the serving slot or upstream. */
  readonly provider: string;
  /** Null for an upstream. */
  readonly engine: string | null;
  readonly endpoint: Endpoint;
  readonly base: string;
  readonly scope: CallScope;
  /** Called for an ended call whose engine cannot stop. `idle` settles when the engine has finished. */
  onUnstoppable(idle: Promise<unknown>): void;
  /** Receives previews; absent when none are wanted. */
  readonly onPreview?: ((image: Buffer, fraction: number) => void) | undefined;
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
  readonly #stopped = new AbortController();

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
    const drawing = this.#draw(job);
    this.#running.add(drawing);
    try {
      const drawn = await drawing;
      const checked = await this.#converted(
        job,
        checkedImages(drawn.images, isForwardedRequest(job.request)),
      );
      const data = await this.#deliver(job, checked);
      return responseOf(job, { drawn, checked, data, ms: Math.round(performance.now() - started) });
    } finally {
      this.#running.delete(drawing);
    }
  }

  /** Waits for running engines no longer than their cancellation takes. */
  stop(): void {
    this.#stopped.abort(new Error('the gateway stops'));
  }

  /** Resolves when every running engine has been stopped. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #draw(job: ImageCall): Promise<Drawn> {
    const { request, scope } = job;
    const { bus, limitMs = DRAW_LIMIT_MS } = this.#deps;
    const control = new AbortController();
    const forget = scope.onEnd((reason) => control.abort(reason));
    job.onDown?.((reason) => control.abort(reason));
    const late = setTimeout(() => control.abort(timeLimitReached(limitMs)), limitMs);
    const promptId = randomUUID();
    const model = isForwardedRequest(request) ? request.model : request.drawing.model.id;
    const emitter = new ProgressEmitter(bus, { id: promptId, request: job.requestId, model, slot: job.slot });
    try {
      control.signal.throwIfAborted();
      const drawn = await this.#drawWith(job, { promptId, signal: control.signal, emitter });
      control.signal.throwIfAborted();
      emitter.done();
      return drawn;
    } catch (error) {
      emitter.failed();
      if (error instanceof DrawingFailed) {
        const { options, engineText: text } = error;
        this.#deps.log.warn(
          { request: job.requestId, slot: job.slot, ...options.details, text },
          'a drawing failed',
        );
      }
      throw control.signal.aborted ? control.signal.reason : error;
    } finally {
      clearTimeout(late);
      forget();
    }
  }

  async #drawWith(
    { request, engine, endpoint, base, onPreview, onUnstoppable }: ImageCall,
    { promptId, signal, emitter }: { promptId: string; signal: AbortSignal; emitter: ProgressEmitter },
  ): Promise<Drawn> {
    const { outbound } = this.#deps;
    if (isForwardedRequest(request)) {
      emitter.emit({ state: 'drawing', fraction: null });
      const { body } = request;
      return { promptId, ...(await forwardImage({ outbound, endpoint, base, body, signal })) };
    }
    const draw = BACKENDS[engine ?? ''];
    if (draw === undefined) throw new Error(`engine ${engine} has no image backend`);
    const { drawing } = request;
    const progress = (progress: Parameters<typeof emitter.emit>[0]) => emitter.emit(progress);
    const made = await draw({
      ...{ outbound, endpoint, drawing, promptId, signal, progress, onPreview },
      stopped: this.#stopped.signal,
      onUnstoppable: (idle) => {
        this.#running.add(idle);
        void idle.finally(() => this.#running.delete(idle)).catch(() => {});
        onUnstoppable(idle);
      },
    });
    const images = made.images.slice(0, drawing.count).map((bytes) => ({ bytes, revisedPrompt: null }));
    return { promptId: made.promptId, images, fields: {} };
  }

  /**
   * Returns the images in the format of the request, those of an upstream that ignores it included; as they are when one
   * of them cannot be converted.
   */
  async #converted(
    { request, requestId, scope }: ImageCall,
    images: readonly CheckedImage[],
  ): Promise<readonly CheckedImage[]> {
    const { format = 'png', quality = null } = request.output ?? {};
    if (format === 'png') return images;
    const converted: CheckedImage[] = [];
    for (const image of images) {
      if (image.format !== 'png') return images;
      const onFailure = (err: unknown) =>
        this.#deps.log.warn({ request: requestId, format, err }, 'an image could not be converted');
      const bytes = await convertPng(image.bytes, { format, quality, signal: scope.signal, onFailure });
      if (bytes === null) return images;
      converted.push({ ...image, bytes, format });
    }
    return converted;
  }

  /** Returns the items of the response. Formats other than PNG are returned as data only. */
  async #deliver({ request, requestId }: ImageCall, images: readonly CheckedImage[]) {
    const { log } = this.#deps;
    const data: ImagesResponse['data'] = [];
    for (const { bytes, format, revisedPrompt } of images) {
      const revised = revisedPrompt === null ? {} : { revised_prompt: revisedPrompt };
      if (request.form === 'b64_json' || format !== 'png') {
        data.push({ b64_json: bytes.toString('base64'), ...revised });
        continue;
      }
      const id = await this.cache.store(bytes).catch((error: unknown) => {
        log.error({ request: requestId, err: error }, 'an image could not be stored');
        throw error;
      });
      data.push({ url: `/api/images/cache/${id}.png`, ...revised });
    }
    return data;
  }
}

/**
 * Accepts only valid PNG files, and removes the metadata that the engine wrote. An upstream may also return JPEG and
 * WebP, whose first bytes are checked.
 */
function checkedImages(images: Drawn['images'], takesOthers: boolean): CheckedImage[] {
  const total = images.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > MAX_RESPONSE_BYTES || images.some(({ bytes }) => bytes.length > MAX_IMAGE_BYTES)) {
    throw badAnswer('The images from the image engine are larger than the limit.', undefined, 'bad_image');
  }
  try {
    return images.map(({ bytes, revisedPrompt }) => {
      const format = imageFormat(bytes);
      if (takesOthers && format !== null && format !== 'png')
        return { bytes, format, revisedPrompt, size: null };
      const png = readPng(bytes, MAX_SIDE);
      return { bytes: png.bytes, format: 'png', revisedPrompt, size: [png.width, png.height] };
    });
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
  readonly drawn: Drawn;
  readonly checked: readonly CheckedImage[];
  readonly data: ImagesResponse['data'];
  readonly ms: number;
}

function responseOf(
  { request, provider }: ImageCall,
  { drawn, checked, data, ms }: DeliveredImages,
): ImagesResponse {
  const [width, height] = checked[0]?.size ?? [];
  const common = {
    created: Math.floor(Date.now() / 1000),
    data,
    ...drawn.fields,
    ...(checked[0] && namesFormat(request, checked[0].format) && { output_format: checked[0].format }),
  };
  const svc = { prompt_id: drawn.promptId, upstream: provider };
  if (isForwardedRequest(request)) {
    const isFollowed = request.output === null || request.output.format === checked[0]?.format;
    const ignored = [
      ...(isFollowed ? [] : ['output_format']),
      ...(checked.length < request.count ? ['n'] : []),
    ];
    const meta = {
      ...(width !== undefined && { width, height }),
      duration_ms: ms,
      ...(ignored.length > 0 && { ignored }),
    };
    return { ...common, _svc: { meta, ...svc, model: request.model } };
  }
  return {
    ...common,
    _svc: {
      meta: drawingMeta(request, checked[0]?.format ?? 'png', ms),
      ...svc,
      model: request.drawing.model.id,
    },
  };
}

function drawingMeta(
  { drawing, requestedExtras, unfollowed, output }: ImageRequest,
  format: ImageFormat,
  ms: number,
): ImagesResponse['_svc']['meta'] {
  const { model, seed, steps, cfg, width, height } = drawing;
  const { sampler, family, familySource, licence } = model;
  const ignored = [
    ...ignoredExtras(model, requestedExtras),
    ...unfollowedOutput(output, format),
    ...unfollowed,
  ];
  return {
    ...{ seed, steps, cfg, width, height, sampler, family },
    ...(familySource !== undefined && { family_source: familySource }),
    ...{ licence, duration_ms: ms },
    ...(ignored.length > 0 && { ignored }),
  };
}

/** The format is named where it is not PNG, or not the one that the caller wanted. */
const namesFormat = (request: ImageRequest | ForwardedRequest, format: ImageFormat): boolean =>
  format !== 'png' || (request.output !== null && request.output.format !== 'png');

/** Returns the settings of the output that the images do not have. PNG has no quality. */
const unfollowedOutput = ({ format, quality }: ImageRequest['output'], got: ImageFormat): string[] => [
  ...(format === got ? [] : ['output_format']),
  ...(quality !== null && quality !== 100 && got === 'png' ? ['output_compression'] : []),
];
