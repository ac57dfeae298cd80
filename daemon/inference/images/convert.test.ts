import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { beforeEach, expect, it } from 'vitest';
import { imageFormat } from '../../lib/media/image-format.ts';
import { chunk, damagedPng, drawnPng } from '../../test/harness/drawn-png.ts';
import { type ConvertOptions, convertPng as convert } from './convert.ts';

const PNG = drawnPng({ width: 64, height: 64, seed: 1 });
const signal = new AbortController().signal;
const failures: unknown[] = [];
/** Converts, and collects the failures. */
const convertPng = (png: Buffer, options: Omit<ConvertOptions, 'onFailure'>) =>
  convert(png, { ...options, onFailure: (reason) => failures.push(reason) });
beforeEach(() => {
  failures.length = 0;
});

interface Layout {
  readonly side?: number;
  readonly depth: number;
  readonly colour: number;
  readonly rows: Buffer;
  readonly more?: readonly Buffer[];
}

/** Returns a square PNG of these filtered rows. */
function pngOf({ side = 8, depth, colour, rows, more = [] }: Layout): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([depth, colour], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    ...more,
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Rows of 8 pixels with these bytes each. */
const rowsOf = (row: readonly number[]) => Buffer.concat(Array(8).fill(Buffer.from([0, ...row])));
const repeated = (pixel: readonly number[]) => Array(8).fill(pixel).flat() as number[];

/** Decodes an image with the decoder of its format, and returns the first pixel. */
async function firstPixel(image: Buffer): Promise<number[]> {
  const format = imageFormat(image) as 'jpeg' | 'webp';
  const file = { jpeg: 'jpeg/codec/dec/mozjpeg_dec.wasm', webp: 'webp/codec/dec/webp_dec.wasm' }[format];
  const wasmBinary = readFileSync(fileURLToPath(import.meta.resolve(`@jsquash/${file}`)));
  const codec = await (format === 'jpeg'
    ? import('@jsquash/jpeg/decode.js')
    : import('@jsquash/webp/decode.js'));
  await codec.init({ wasmBinary });
  const bytes = image.buffer.slice(image.byteOffset, image.byteOffset + image.byteLength) as ArrayBuffer;
  const { data, width, height } = await codec.default(bytes);
  expect([width, height]).toEqual([8, 8]);
  return [...data.subarray(0, 4)];
}

it.each(['jpeg', 'webp'] as const)('%s: a lower quality is smaller', async (format) => {
  const best = await convertPng(PNG, { format, quality: null, signal });
  const low = await convertPng(PNG, { format, quality: 10, signal });
  expect([best, low].map((image) => image && imageFormat(image))).toEqual([format, format]);
  expect(low?.length).toBeLessThan(best?.length ?? 0);
  expect(await convertPng(PNG, { format, quality: 0, signal })).not.toBeNull();
});

const LAYOUTS: readonly [string, Layout, readonly number[]][] = [
  ['grey', { depth: 8, colour: 0, rows: rowsOf(repeated([120])) }, [120, 120, 120]],
  ['one bit', { depth: 1, colour: 0, rows: rowsOf([0xff]) }, [255, 255, 255]],
  ['RGB', { depth: 8, colour: 2, rows: rowsOf(repeated([200, 100, 50])) }, [200, 100, 50]],
  [
    'RGB with 16 bits',
    { depth: 16, colour: 2, rows: rowsOf(repeated([200, 0, 100, 0, 50, 0])) },
    [200, 100, 50],
  ],
  [
    'palette',
    {
      ...{ depth: 8, colour: 3, rows: rowsOf(repeated([1])) },
      more: [chunk('PLTE', Buffer.from([0, 0, 0, 200, 100, 50]))],
    },
    [200, 100, 50],
  ],
  ['RGB and alpha', { depth: 8, colour: 6, rows: rowsOf(repeated([200, 100, 50, 255])) }, [200, 100, 50]],
];
it.each(LAYOUTS)('reads %s', async (_, layout, expected) => {
  for (const format of ['jpeg', 'webp'] as const) {
    const image = await convertPng(pngOf(layout), { format, quality: null, signal });
    const pixel = await firstPixel(image as Buffer);
    for (const [channel, value] of expected.entries())
      expect(Math.abs((pixel[channel] as number) - value), `${format} ${pixel}`).toBeLessThan(8);
  }
});

it('transparent pixels are white in JPEG and transparent in WebP', async () => {
  const png = pngOf({ depth: 8, colour: 6, rows: rowsOf(repeated([0, 0, 0, 0])) });
  const jpeg = await convertPng(png, { format: 'jpeg', quality: null, signal });
  expect((await firstPixel(jpeg as Buffer)).slice(0, 3)).toEqual([255, 255, 255]);
  const webp = await convertPng(png, { format: 'webp', quality: null, signal });
  expect((await firstPixel(webp as Buffer))[3]).toBe(0);
});

it.each([
  ['text', Buffer.from('x')],
  ['an empty file', Buffer.alloc(0)],
  ['damaged pixels with a correct checksum', damagedPng(PNG)],
  ['rows that are missing', pngOf({ side: 4096, depth: 8, colour: 2, rows: Buffer.from([0, 1, 2]) })],
])('%s gives none, and the reason is reported', async (_, bytes) => {
  expect(await convertPng(bytes, { format: 'jpeg', quality: null, signal })).toBeNull();
  expect(failures).toEqual([expect.anything()]);
});

it('converts several at once, one after the other', async () => {
  const images = await Promise.all(
    (['jpeg', 'webp', 'jpeg'] as const).map((format) => convertPng(PNG, { format, quality: 90, signal })),
  );
  expect(images.map((image) => imageFormat(image as Buffer))).toEqual(['jpeg', 'webp', 'jpeg']);
});

it('an aborted conversion rejects and releases its permit', async () => {
  const aborted = AbortSignal.abort(new Error('left'));
  await expect(convertPng(PNG, { format: 'jpeg', quality: null, signal: aborted })).rejects.toThrow('left');
  const control = new AbortController();
  const large = drawnPng({ width: 4096, height: 4096, seed: 1 });
  const converting = convertPng(large, { format: 'webp', quality: null, signal: control.signal });
  setImmediate(() => control.abort(new Error('left later')));
  await expect(converting).rejects.toThrow('left later');
  expect(failures).toEqual([]);
  expect(await convertPng(PNG, { format: 'webp', quality: null, signal })).not.toBeNull();
});

it('does not block the event loop', async () => {
  const large = drawnPng({ width: 1024, height: 1024, seed: 1 });
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  await convertPng(large, { format: 'jpeg', quality: null, signal });
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(5);
});
