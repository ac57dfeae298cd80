import { Worker } from 'node:worker_threads';
import { Semaphore } from '../../lib/async/semaphore.ts';
import { type ImageFormat, imageFormat } from '../../lib/media/image-format.ts';
import type { EncodeInput } from './encode-main.ts';
import { MAX_IMAGE_BYTES } from './limits.ts';

const LIMIT_MS = 60_000;
/** OpenAI's default. */
const DEFAULT_QUALITY = 100;
/** Heap of the thread. Pixels and the memory of the encoders are outside of it. */
const MAX_HEAP_MB = 64;

export interface ConvertOptions {
  readonly format: Exclude<ImageFormat, 'png'>;
  /** Quality from 0 to 100; null for the default. */
  readonly quality: number | null;
  readonly signal: AbortSignal;
  /** Receives why the image could not be converted. */
  onFailure(reason: unknown): void;
}

/** One image at a time: an image of 4096 × 4096 pixels needs several hundred MB. */
const oneAtATime = new Semaphore({ permits: 1 });

/**
 * Converts a PNG in a separate thread (docs/adr/0069-webassembly-converts-images.md). The caller has checked its
 * dimensions. Calls `onFailure` and returns null when it cannot be decoded or the result exceeds a limit. Rejects with the
 * reason of the signal.
 */
export async function convertPng(
  png: Buffer,
  { format, quality, signal, onFailure }: ConvertOptions,
): Promise<Buffer | null> {
  try {
    const image = await oneAtATime.run(signal, () =>
      encode(
        { png, format, quality: quality ?? DEFAULT_QUALITY },
        AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
      ),
    );
    if (image.length > MAX_IMAGE_BYTES) throw new Error(`the result has ${image.length} bytes`);
    if (imageFormat(image) !== format) throw new Error(`the result is not ${format}`);
    return image;
  } catch (error) {
    signal.throwIfAborted();
    onFailure(error);
    return null;
  }
}

/** Runs the thread until it returns an image. Rejects when it fails or the signal aborts. Its memory is free afterwards. */
async function encode(workerData: EncodeInput, signal: AbortSignal): Promise<Buffer> {
  const thread = new Worker(new URL('./encode-main.ts', import.meta.url), {
    workerData,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    stdout: true,
    stderr: true,
  });
  const stop = () => void thread.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      thread.once('message', ({ buffer, byteOffset, byteLength }: Uint8Array) =>
        resolve(Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)),
      );
      thread.once('error', reject);
      thread.once('exit', (code) =>
        reject(signal.aborted ? signal.reason : new Error(`the thread ended with ${code} without an image`)),
      );
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}
