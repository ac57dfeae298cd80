import fc from 'fast-check';
import { _iterSSEMessages } from 'openai/core/streaming';
import { expect, test } from 'vitest';
import { fuzzing } from '../test/harness/scale.ts';
import { EventStreamParser } from './event-stream.ts';

/** Our parser and that of OpenAI's client read the same data from the same bytes. */
const READERS: Record<string, (chunks: Uint8Array[]) => string[] | Promise<string[]>> = {
  actual: (chunks) => {
    const reader = new EventStreamParser({ maxEventLength: 10_000, tooLong: () => new Error('too long') });
    const blocks = [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
    return blocks.flatMap((block) => ('data' in block ? [block.data] : []));
  },
  openai: async (chunks) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) if (chunk.length > 0) controller.enqueue(chunk);
        controller.close();
      },
    });
    const events: string[] = [];
    for await (const { data } of _iterSSEMessages(new Response(body), new AbortController())) {
      if (data !== null) events.push(data);
    }
    return events;
  },
};

const end = fc.constantFrom('\n', '\r\n');
const text = fc.string({ unit: fc.constantFrom(...'{}":, a:é€😀'), maxLength: 12 });
const line = fc.oneof(
  text.map((each) => `data: ${each}`),
  text.map((each) => `data:${each}`),
  text.map((each) => `: ${each}`),
  text.map((each) => `event: ${each}`),
  fc.constantFrom('id: 7', 'retry: 100', 'data: [DONE]', 'unknown: field', 'database: x'),
);
const block = fc.array(line, { minLength: 1, maxLength: 4 });
const stream = fc
  .tuple(fc.array(block, { maxLength: 6 }), end)
  .map(([blocks, eol]) => blocks.map((lines) => lines.map((each) => each + eol).join('') + eol).join(''));

function cutAt(bytes: Buffer, cuts: number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((stop, i) => bytes.subarray(at[i], stop));
}

test("reads event streams like OpenAI's client, for any chunking", async () => {
  await fc.assert(
    fc.asyncProperty(stream, fc.array(fc.nat(), { maxLength: 12 }), async (written, cuts) => {
      const chunks = cutAt(Buffer.from(written), cuts);
      const [actual, ...references] = await Promise.all(Object.values(READERS).map((read) => read(chunks)));
      for (const reference of references) {
        expect(actual?.filter((each) => each !== '')).toEqual(reference.filter((each) => each !== ''));
      }
    }),
    fuzzing('event streams', 100_000),
  );
});
