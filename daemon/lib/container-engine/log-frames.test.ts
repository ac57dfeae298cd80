import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LogFrames } from './log-frames.ts';

const frame = (stream: number, text: string): Buffer => {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
};
const read = (chunks: readonly Buffer[]): string => {
  const frames = new LogFrames();
  return Buffer.concat(chunks.flatMap((chunk) => frames.push(chunk))).toString();
};

test('extracts the output from its frames, in order', () => {
  expect(read([Buffer.concat([frame(1, 'out\n'), frame(2, ''), frame(2, 'err\n')])])).toBe('out\nerr\n');
});

test('for any chunk boundaries', () => {
  const text = fc.string({ maxLength: 20 });
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1 }),
      fc.array(fc.nat({ max: 12 }), { minLength: 1 }),
      (texts, cuts) => {
        const all = Buffer.concat(texts.map((one, index) => frame(1 + (index % 2), one)));
        const pieces: Buffer[] = [];
        for (let at = 0, turn = 0; at < all.length; turn += 1) {
          const length = 1 + (cuts[turn % cuts.length] as number);
          pieces.push(all.subarray(at, at + length));
          at += length;
        }
        expect(read(pieces)).toBe(texts.join(''));
      },
    ),
  );
});

test('passes an unframed stream unchanged, even if it later looks framed', () => {
  expect(read([Buffer.from('hello world'), frame(1, 'x')])).toBe(`hello world${frame(1, 'x')}`);
});
