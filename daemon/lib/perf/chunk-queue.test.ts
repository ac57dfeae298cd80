import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChunkQueue } from './chunk-queue.ts';

test('property: returns all bytes in order, for any chunks and reads', () => {
  const sizes = fc.array(fc.oneof(fc.nat(20), fc.nat(9_000), fc.integer({ min: 60_000, max: 70_000 })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(sizes, fc.array(fc.boolean(), { maxLength: 40 }), (cuts, takes) => {
      const pieces = new ChunkQueue();
      const sent: Buffer[] = [];
      const read: Buffer[] = [];
      for (const [index, size] of cuts.entries()) {
        const piece = Buffer.alloc(size, index + 1);
        sent.push(piece);
        pieces.push(piece);
        if (takes[index]) read.push(...pieces.take());
      }
      const length = pieces.length;
      const rest = pieces.take();
      expect(Buffer.concat(rest).length).toBe(length);
      expect(pieces.length).toBe(0);
      expect(Buffer.concat([...read, ...rest]).equals(Buffer.concat(sent))).toBe(true);
    }),
  );
});

test('a million single bytes become a few chunks', () => {
  const pieces = new ChunkQueue();
  for (let n = 0; n < 1 << 20; n++) pieces.push(Buffer.from([n & 0xff]));
  expect(pieces.length).toBe(1 << 20);
  expect(pieces.take().length).toBeLessThan(20);
});
