import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { ImageFormat } from '../../lib/media/image-format.ts';

/** The input of the thread. */
export interface EncodeInput {
  readonly png: Uint8Array;
  readonly format: Exclude<ImageFormat, 'png'>;
  /** 0 to 100. */
  readonly quality: number;
}

/** Pixels with four channels of eight bits. */
interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

const WHITE = 255;

/** Node's types do not have it. */
const { WebAssembly } = globalThis as unknown as { WebAssembly: { validate(bytes: Uint8Array): boolean } };

/** Returns the bytes of a WebAssembly file of a package. */
const wasm = (file: string): Buffer => readFileSync(fileURLToPath(import.meta.resolve(file)));

async function decodePng(png: Uint8Array): Promise<Pixels> {
  const { init, decode } = await import('@jsquash/png/decode.js');
  await init(wasm('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'));
  return decode(png.buffer.slice(png.byteOffset, png.byteOffset + png.byteLength) as ArrayBuffer);
}

/** Draws the pixels on white: JPEG has no transparency, and encoders ignore the fourth channel. */
function flatten({ data }: Pixels): void {
  for (let at = 3; at < data.length; at += 4) {
    const alpha = (data[at] as number) / WHITE;
    if (alpha === 1) continue;
    for (let channel = at - 3; channel < at; channel++)
      data[channel] = (data[channel] as number) * alpha + WHITE * (1 - alpha);
    data[at] = WHITE;
  }
}

const ENCODERS: Readonly<
  Record<EncodeInput['format'], (pixels: Pixels, quality: number) => Promise<ArrayBuffer>>
> = {
  jpeg: async (pixels, quality) => {
    flatten(pixels);
    const { init, default: encode } = await import('@jsquash/jpeg/encode.js');
    await init({ wasmBinary: wasm('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm') });
    // A progressive file takes twice as long.
    return encode(pixels as never, { quality, progressive: false });
  },
  webp: async (pixels, quality) => {
    const { init, default: encode } = await import('@jsquash/webp/encode.js');
    const simd = wasm('@jsquash/webp/codec/enc/webp_enc_simd.wasm');
    const wasmBinary = WebAssembly.validate(simd) ? simd : wasm('@jsquash/webp/codec/enc/webp_enc.wasm');
    await init({ wasmBinary });
    return encode(pixels as never, { quality });
  },
};

const { png, format, quality } = workerData as EncodeInput;
const image = new Uint8Array(await ENCODERS[format](await decodePng(png), quality));
parentPort?.postMessage(image, [image.buffer]);
