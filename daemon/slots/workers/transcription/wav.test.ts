import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Spool } from '../../../lib/fs/spool.ts';
import { wavHeader } from '../../../lib/media/pcm.ts';
import { scratchOfFile } from '../../../lib/testing/scratch.ts';
import { pcmRate } from './sound.ts';
import { readWavFormat, wavSound } from './wav.ts';

const folder = scratchOfFile();

async function spool(bytes: Buffer): Promise<Spool> {
  const file = await Spool.open(folder);
  await file.write([bytes]);
  return file;
}

async function read(bytes: Buffer): Promise<{ rate: number; samples: number[] } | null> {
  const file = await spool(bytes);
  const facts = await readWavFormat(file);
  const samples: number[] = [];
  if (facts !== null) for await (const sound of wavSound(file, facts)) samples.push(...sound.samples);
  await file.close();
  return facts === null ? null : { rate: facts.rate, samples };
}

interface Shape {
  tag: number;
  channels: number;
  bits: number;
  sub?: number;
}

function wav({ tag, channels, bits, sub }: Shape, data: Buffer, before: Buffer = Buffer.alloc(0)): Buffer {
  const format = Buffer.alloc(sub === undefined ? 16 : 40);
  format.writeUInt16LE(tag, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(8_000, 4);
  format.writeUInt16LE(bits, 14);
  if (sub !== undefined) format.writeUInt16LE(sub, 24);
  const chunk = (name: string, bytes: Buffer) => {
    const head = Buffer.alloc(8);
    head.write(name, 'latin1');
    head.writeUInt32LE(bytes.length, 4);
    return Buffer.concat([head, bytes, Buffer.alloc(bytes.length % 2)]);
  };
  return Buffer.concat([Buffer.from('RIFF....WAVE'), before, chunk('fmt ', format), chunk('data', data)]);
}

const bytesOf = (length: number, write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(length);
  write(bytes);
  return bytes;
};

describe('decodes the value 0.5 in every sample format', () => {
  test.each([
    [{ tag: 1, channels: 1, bits: 8 }, Buffer.of(192)],
    [{ tag: 1, channels: 1, bits: 16 }, bytesOf(2, (b) => b.writeInt16LE(16_384))],
    [{ tag: 1, channels: 1, bits: 24 }, bytesOf(3, (b) => b.writeIntLE(4_194_304, 0, 3))],
    [{ tag: 1, channels: 1, bits: 32 }, bytesOf(4, (b) => b.writeInt32LE(1_073_741_824))],
    [{ tag: 3, channels: 1, bits: 32 }, bytesOf(4, (b) => b.writeFloatLE(0.5))],
    [{ tag: 3, channels: 1, bits: 64 }, bytesOf(8, (b) => b.writeDoubleLE(0.5))],
    [{ tag: 0xfffe, channels: 1, bits: 16, sub: 1 }, bytesOf(2, (b) => b.writeInt16LE(16_384))],
    [
      { tag: 1, channels: 2, bits: 16 },
      bytesOf(4, (b) => {
        b.writeInt16LE(32_767);
        b.writeInt16LE(0, 2);
      }),
    ],
  ])('%j', async (shape, data) => {
    const sound = await read(wav(shape, data));
    expect(sound?.rate).toBe(8_000);
    expect(sound?.samples).toHaveLength(1);
    expect(sound?.samples[0]).toBeCloseTo(0.5, 3);
  });
});

test('NaN is silence, and values beyond the range are clipped', async () => {
  const data = bytesOf(12, (b) => {
    b.writeFloatLE(Number.NaN, 0);
    b.writeFloatLE(9, 4);
    b.writeFloatLE(Number.NEGATIVE_INFINITY, 8);
  });
  expect((await read(wav({ tag: 3, channels: 1, bits: 32 }, data)))?.samples).toEqual([0, 1, 0]);
});

test('skips other chunks, and a saved stream extends to the end', async () => {
  const list = Buffer.from('LIST\x05\0\0\0abcde\0');
  expect((await read(wav({ tag: 1, channels: 1, bits: 8 }, Buffer.of(128), list)))?.samples).toEqual([0]);
  const stream = Buffer.concat([wavHeader(16_000, null), Buffer.alloc(2_000)]);
  expect((await read(stream))?.samples).toHaveLength(1_000);
});

test.each([
  ['compressed samples', wav({ tag: 0x55, channels: 1, bits: 16 }, Buffer.alloc(4))],
  ['no channel', wav({ tag: 1, channels: 0, bits: 16 }, Buffer.alloc(4))],
  ['samples before their format', Buffer.from('RIFF....WAVEdata\x02\0\0\0ab')],
  ['no samples', Buffer.from('RIFF....WAVE')],
  ['another format', Buffer.from('ID3 is no wave file at all')],
  ['nothing', Buffer.alloc(0)],
])('does not accept %s', async (_, bytes) => expect(await read(bytes)).toBeNull());

test('no input crashes it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (noise) => {
      await read(Buffer.concat([Buffer.from('RIFF....WAVE'), noise]));
      await read(Buffer.concat([wavHeader(8_000, 50).subarray(0, 36), noise]));
    }),
  );
});

test.each([
  ['audio/pcm', 'a', 24_000],
  ['audio/L16; rate=16000', 'a', 16_000],
  ['application/octet-stream', 'voice.pcm', 24_000],
  ['audio/pcm;rate=99', 'a', 24_000],
  ['audio/mpeg', 'a.mp3', null],
])('%j with the content type %j has the rate %j', (type, name, rate) =>
  expect(pcmRate(type, name)).toBe(rate),
);
