import type { ImagesResponse } from '../../contract/images.ts';
import { imageFormat } from '../../lib/media/image-format.ts';
import { SSE_HEADERS } from '../../lib/net/sse.ts';
import type { ResponseWriter } from '../forward/response-writer.ts';
import type { ImageRequestHead } from './checks.ts';

type Writer = Pick<ResponseWriter, 'begin' | 'write' | 'finish'>;

/**
 * Writes the events of OpenAI's image stream: `image_generation.partial_image` for previews of the engine, as many as
 * the caller wants and spread over the steps, then one `image_generation.completed` for each image.
 */
export class ImageEvents {
  readonly #response: Writer;
  readonly #maxPartial: number;
  readonly #createdAt = Math.floor(Date.now() / 1000);
  #partial = 0;

  constructor(response: Writer, { partialImages }: NonNullable<ImageRequestHead['stream']>) {
    this.#response = response;
    this.#maxPartial = partialImages;
  }

  /** Receives a preview and the fraction of finished steps; undefined when the caller wants no previews. */
  get onPreview(): ((image: Buffer, fraction: number) => void) | undefined {
    return this.#maxPartial === 0 ? undefined : (image, fraction) => this.#preview(image, fraction);
  }

  #preview(image: Buffer, fraction: number): void {
    const output_format = imageFormat(image);
    const isDue = fraction >= (this.#partial + 1) / (this.#maxPartial + 1);
    if (output_format === null || !isDue || this.#partial >= this.#maxPartial) return;
    this.#response.write(
      this.#event('image_generation.partial_image', {
        b64_json: image.toString('base64'),
        output_format,
        partial_image_index: this.#partial++,
      }),
    );
  }

  /** Writes the images and ends the stream. */
  complete({ data, _svc, usage, output_format = 'png', size, quality, background }: ImagesResponse): void {
    const { width, height } = _svc.meta;
    const drawnSize = width === undefined ? size : `${width}x${height}`;
    const events = data.map((image) =>
      this.#event('image_generation.completed', {
        ...image,
        ...{ size: drawnSize, quality: quality ?? 'auto', background: background ?? 'auto', output_format },
        ...{ usage, _svc },
      }),
    );
    this.#response.finish(Buffer.concat(events));
  }

  #event(type: string, fields: object): Buffer {
    this.#response.begin(200, SSE_HEADERS);
    const data = JSON.stringify({ type, created_at: this.#createdAt, ...fields });
    return Buffer.from(`event: ${type}\ndata: ${data}\n\n`);
  }
}
