import { describe, expect, it } from 'vitest';
import { sseEvents } from './sse.ts';

describe('sseEvents', () => {
  it('decodes characters that are cut in two', async () => {
    const bytes = new TextEncoder().encode('data: Grüße 🙂\n\n');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const received: string[] = [];
    for await (const event of sseEvents(body)) received.push(event.data);
    expect(received).toEqual(['Grüße 🙂']);
  });

  it('reports the last id, also for a block without data', async () => {
    const text = 'id: 41\n\nid: 42\nevent: slot\ndata: {}\n\nid: 43\n';
    const ids: (string | null)[] = [];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const line of text.split(/(?<=\n\n)/)) controller.enqueue(new TextEncoder().encode(line));
        controller.close();
      },
    });
    for await (const _ of sseEvents(body, (id) => ids.push(id)));
    expect(ids).toEqual(['41', '42', '42']);
  });

  it('rejects an event that is too long', async () => {
    const read = async () => {
      for await (const _ of sseEvents(new Blob([`data: ${'x'.repeat(1_048_577)}`]).stream()));
    };
    await expect(read()).rejects.toThrow('1 MiB');
  });
});
