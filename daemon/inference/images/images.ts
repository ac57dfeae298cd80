import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import type { GatewayEvents } from '../../contract/events.ts';
import type { ImagesResponse } from '../../contract/images.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import type { Log } from '../../lib/log.ts';
import { InvalidPngError, readPng } from '../../lib/media/png.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { Life } from '../forward/call-scope.ts';
import { badAnswer, type Place } from './ask.ts';
import { ImageCache } from './cache.ts';
import type { ImageAsk } from './checks.ts';
import { drawWithComfy } from './comfy-draw.ts';
import { ignoredBy } from './drawing.ts';
import type { Draw, Drawn } from './image-job.ts';
import { DRAW_LIMIT_MS, MOST_ANSWER_BYTES, MOST_PICTURE_BYTES, MOST_SIDE } from './limits.ts';
import { drawWithOpenAI } from './openai-draw.ts';
import { ProgressTeller } from './progress-emitter.ts';
import { drawWithSdServer } from './sd-draw.ts';

/** How each engine is driven; every other one, and every upstream, speaks like OpenAI's. */
const DRAWS: Readonly<Record<string, Draw>> = {
  comfyui: drawWithComfy,
  'sd-server': drawWithSdServer,
};

export interface ImagesOptions {
  /** Where pictures are kept for their callers. */
  readonly folder: string;
  readonly outbound: Outbound;
  readonly bus: Pick<EventBus<GatewayEvents>, 'emit'>;
  readonly log: Log;
  /** Overrides the limit of 600 s (docs/spec/contract.md#image-limit), in milliseconds. */
  readonly limitMs?: number;
}

export interface ImageOrder {
  /** `x-request-id`. */
  readonly requestId: string;
  readonly ask: ImageAsk;
  /** The slot that draws; null for an upstream. */
  readonly slot: string | null;
  /** The slot or upstream that draws, by its name. */
  readonly provider: string;
  /** Null for an upstream. */
  readonly engine: string | null;
  readonly place: Place;
  readonly base: string;
  readonly engineModel: string | null;
  readonly life: Life;
}

/**
 * Draws pictures, checks them by content and stores them for their callers
 * (docs/spec/specification.md#images).
 */
export class Images {
  readonly cache: ImageCache;
  readonly #options: ImagesOptions;
  /** Drawings under way, with their engines being told to stop. */
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: ImagesOptions) {
    this.#options = options;
    this.cache = new ImageCache({ folder: options.folder, log: options.log });
  }

  /** One answer. Rejects with a GatewayError, or with the reason of the life's end once the engine was told. */
  async make(order: ImageOrder): Promise<ImagesResponse> {
    const started = performance.now();
    const drawn = this.#draw(order);
    this.#running.add(drawn);
    try {
      const { promptId, pictures } = await drawn;
      const data = await this.#delivered(order, pictures);
      return answerOf(order, { promptId, data, ms: Math.round(performance.now() - started) });
    } finally {
      this.#running.delete(drawn);
    }
  }

  /** Resolves when every engine that was drawing has been told to stop. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #draw(order: ImageOrder): Promise<Drawn> {
    const { ask, engine, life, place, base, engineModel } = order;
    const { outbound, bus, limitMs = DRAW_LIMIT_MS } = this.#options;
    const control = new AbortController();
    const forget = life.onEnd((reason) => control.abort(reason));
    const late = setTimeout(() => control.abort(tooLate(limitMs)), limitMs);
    const promptId = randomUUID();
    const teller = new ProgressTeller(bus, {
      id: promptId,
      request: order.requestId,
      model: ask.drawing.model.id,
      slot: order.slot,
    });
    const draw = DRAWS[engine ?? ''] ?? drawWithOpenAI;
    try {
      control.signal.throwIfAborted();
      const drawn = await draw({
        outbound,
        place,
        base,
        engineModel,
        drawing: ask.drawing,
        named: ask.named,
        promptId,
        signal: control.signal,
        progress: (progress) => teller.tell(progress),
      });
      control.signal.throwIfAborted();
      teller.done();
      return drawn;
    } catch (error) {
      teller.failed();
      throw control.signal.aborted ? control.signal.reason : error;
    } finally {
      clearTimeout(late);
      forget();
    }
  }

  async #delivered({ ask, requestId }: ImageOrder, pictures: readonly Buffer[]) {
    const { log } = this.#options;
    const checked = picturesOf(pictures.slice(0, ask.drawing.count));
    if (ask.form === 'b64_json') return checked.map((png) => ({ b64_json: png.toString('base64') }));
    const data: { url: string }[] = [];
    for (const png of checked) {
      const id = await this.cache.keep(png).catch((error: unknown) => {
        log.error({ request: requestId, err: error }, 'an image could not be kept');
        throw error;
      });
      data.push({ url: `/api/images/cache/${id}.png` });
    }
    return data;
  }
}

/** Only what is a PNG through and through goes on, without what the engine wrote into it. */
function picturesOf(pictures: readonly Buffer[]): Buffer[] {
  const total = pictures.reduce((sum, { length }) => sum + length, 0);
  if (total > MOST_ANSWER_BYTES || pictures.some(({ length }) => length > MOST_PICTURE_BYTES)) {
    throw badAnswer('The pictures of the image engine are larger than is taken.', undefined, 'bad_image');
  }
  try {
    return pictures.map((bytes) => readPng(bytes, MOST_SIDE).bytes);
  } catch (cause) {
    if (!(cause instanceof InvalidPngError)) throw cause;
    throw badAnswer('What the image engine drew is no whole PNG.', cause, 'bad_image');
  }
}

const tooLate = (limitMs: number): GatewayError =>
  new GatewayError('dispatch.upstream_timeout', {
    message: `The picture was not done within ${Math.round(limitMs / 1000)} s.`,
    noRetry: true,
  });

interface Delivered {
  readonly promptId: string;
  readonly data: ImagesResponse['data'];
  readonly ms: number;
}

function answerOf({ ask, provider }: ImageOrder, { promptId, data, ms }: Delivered): ImagesResponse {
  const { model, seed, steps, cfg, width, height } = ask.drawing;
  const { sampler, family, licence } = model;
  const ignored = ignoredBy(model, ask.named);
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
