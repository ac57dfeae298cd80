import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** An engine that sends half of an answer and then hangs. */
function halfAnAnswer(signal: AbortSignal): Response {
  const chunk = `data: ${JSON.stringify({ choices: [{ delta: { content: 'Half' } }] })}\n\n`;
  const body = new ReadableStream({
    start: (stream) => {
      stream.enqueue(new TextEncoder().encode(chunk));
      signal.addEventListener('abort', () => stream.error(signal.reason));
    },
  });
  return new Response(body);
}

const fetched = vi.fn(async (_: string, { signal }: { signal: AbortSignal }) => halfAnAnswer(signal));
const fresh = async () => (await import('./store.ts')).conversation;

beforeEach(() => {
  vi.resetModules();
  fetched.mockClear();
  vi.stubGlobal('addEventListener', () => {});
  vi.stubGlobal('fetch', fetched);
});
afterEach(() => vi.unstubAllGlobals());

it('restores a conversation that was cleared during an answer with that answer stopped', async () => {
  const conversation = await fresh();
  conversation.setDraft('Hi');
  const answer = conversation.send('agent');
  await vi.waitFor(() => expect(conversation.get().turns.at(-1)?.content).toBe('Half'), 20_000);
  conversation.clear();
  expect(conversation.get().turns).toEqual([]);
  await answer;
  expect(conversation.canRestore()).toBe(true);
  conversation.restore();
  expect(conversation.get().turns.at(-1)).toMatchObject({ state: 'stopped', content: 'Half' });
  const again = conversation.again('agent');
  expect(conversation.get().turns).toMatchObject([{ content: 'Hi' }, { state: 'streaming' }]);
  conversation.stop();
  await again;
  expect(fetched).toHaveBeenCalledTimes(2);
});

it('removes one of two equal images', async () => {
  const conversation = await fresh();
  for (const info of ['a', 'b', 'a']) conversation.addImage(info);
  conversation.removeImage(2);
  expect(conversation.get().images).toEqual(['a', 'b']);
});
