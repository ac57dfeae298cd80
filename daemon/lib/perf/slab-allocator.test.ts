import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlabAllocator } from './slab-allocator.ts';

test('allocations never overlap, for any lengths', () => {
  const lengths = fc.array(fc.oneof(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 20_000 })), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(lengths, (all) => {
      const slabs = new SlabAllocator();
      const allocations = all.map((length, index) => slabs.allocate(length).fill(index));
      for (const [index, bytes] of allocations.entries()) {
        expect(bytes.length).toBe(all[index]);
        expect(bytes.every((byte) => byte === index)).toBe(true);
      }
    }),
  );
});

test('short allocations share separate memory, long ones have separate memory', () => {
  const slabs = new SlabAllocator();
  const [one, two, long] = [slabs.allocate(400), slabs.allocate(400), slabs.allocate(4096)];
  expect(two.buffer).toBe(one.buffer);
  expect(one.buffer).not.toBe(Buffer.allocUnsafe(400).buffer);
  expect(one.buffer.byteLength).toBeLessThanOrEqual(8192);
  expect(long.buffer.byteLength).toBe(4096);
});
