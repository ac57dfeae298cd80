import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DecodeBarrier } from './decode-barrier.ts';

/**
 * Decodes like the library: everything queued when a decode starts shares its batch, and the next decode
 * starts when it ends.
 */
class Decoder {
  readonly batches: number[][] = [];
  #queue: { id: number; done: () => void }[] = [];
  #busy = false;

  token(id: number): Promise<void> {
    return new Promise((done) => {
      this.#queue.push({ id, done });
      if (!this.#busy) setImmediate(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0);
      this.batches.push(batch.map(({ id }) => id).sort());
      await turn();
      await turn();
      for (const { done } of batch) done();
    }
    this.#busy = false;
  }
}

interface Reader {
  tokens: number;
  /** Event loop turns before it starts, and turns per token. */
  late?: number;
  slow?: number;
}

async function decodeAll(readers: readonly Reader[], barrier: DecodeBarrier): Promise<Decoder> {
  const decoder = new Decoder();
  const turns = async (count = 0) => {
    for (let i = 0; i < count; i++) await turn();
  };
  await Promise.all(
    readers.map(async ({ tokens, late, slow }, id) => {
      await turns(late);
      const member = barrier.join();
      for (let i = 0; i < tokens; i++) {
        await member.next(() => decoder.token(id));
        await turns(slow);
      }
      member.leave();
    }),
  );
  return decoder;
}

test('sequences that start at different times soon share every batch', async () => {
  const readers = [{ tokens: 40 }, { tokens: 40, late: 1 }, { tokens: 40, late: 2 }, { tokens: 40, late: 3 }];
  const { batches } = await decodeAll(readers, new DecodeBarrier(turn));
  expect(batches.filter((batch) => batch.length === 4).length).toBeGreaterThan(35);
});

test('the first sequence waits for others that arrive together, and running sequences do not wait for new ones', async () => {
  let gathered = 0;
  const gather = async () => {
    gathered++;
    for (let i = 0; i < 10; i++) await turn();
  };
  const readers = [
    { tokens: 40 },
    { tokens: 40, late: 2 },
    { tokens: 40, late: 4 },
    { tokens: 20, late: 30 },
  ];
  const { batches } = await decodeAll(readers, new DecodeBarrier(turn, gather));
  expect(batches[0]).toEqual([0, 1, 2]);
  expect(batches.length).toBeLessThan(45);
  expect(gathered).toBe(1);
});

test('without the barrier sequences alternate', async () => {
  const free = new DecodeBarrier(turn);
  free.join = () => ({ next: (step) => step(), leave: () => {} });
  const { batches } = await decodeAll([{ tokens: 40 }, { tokens: 40, late: 3 }], free);
  expect(batches.filter((batch) => batch.length === 2)).toEqual([]);
});

test('a slow reader blocks no other sequence', async () => {
  const { batches } = await decodeAll([{ tokens: 40 }, { tokens: 4, slow: 100 }], new DecodeBarrier(turn));
  const firstDone = batches.findLastIndex((batch) => batch.includes(0));
  const slowDone = batches.findLastIndex((batch) => batch.includes(1));
  expect(firstDone).toBeLessThan(slowDone);
});

test('a rejected sequence does not block the others', async () => {
  const barrier = new DecodeBarrier(turn);
  const [a, b] = [barrier.join(), barrier.join()];
  const failed = a.next(() => Promise.reject(new Error('decode failed')));
  const served = b.next(async () => 'token');
  await expect(failed).rejects.toThrow('decode failed');
  expect(await served).toBe('token');
  a.leave();
  a.leave();
  expect(await b.next(async () => 'alone')).toBe('alone');
});

test('every sequence gets every token, in any order and at any speed', async () => {
  const reader = fc.record({
    tokens: fc.integer({ min: 0, max: 12 }),
    late: fc.integer({ min: 0, max: 6 }),
    slow: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(reader, { maxLength: 6 }), async (readers) => {
      const { batches } = await decodeAll(readers, new DecodeBarrier(turn));
      const counted = readers.map((_, id) => batches.flat().filter((each) => each === id).length);
      expect(counted).toEqual(readers.map(({ tokens }) => tokens));
    }),
    { numRuns: 60 },
  );
});
