import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { followStream } from './follow.ts';

const stream = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } });

describe('followStream', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('reconnects with the last event id', async () => {
    const headers: (string | null)[] = [];
    const answers = [stream('id: 7\nevent: slot\ndata: 1\n\n'), stream('event: gap\ndata: {}\n\nid: 9\n\n')];
    const stop = new AbortController();
    vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
      headers.push(new Headers(init.headers).get('last-event-id'));
      const answer = answers.shift();
      if (answer) return answer;
      stop.abort();
      throw new TypeError('gone');
    });
    const [events, opened]: [string[], boolean[]] = [[], []];
    const done = followStream(
      {
        id: 'events',
        options: () => ({}),
        onEvent: ({ event }) => events.push(event),
        onOpen: (again) => opened.push(again),
      },
      stop.signal,
    );
    await vi.runAllTimersAsync();
    await done;
    expect(headers).toEqual([null, '7', '9']);
    expect(events).toEqual(['slot', 'gap']);
    expect(opened).toEqual([false, true]);
  });

  it('stops reconnecting when onBroken returns false', async () => {
    const fetched = vi.fn(async () =>
      Response.json(
        { error: { code: 'slot.not_found', message: 'There is no such slot.' } },
        { status: 404 },
      ),
    );
    vi.stubGlobal('fetch', fetched);
    const errors: unknown[] = [];
    const broken = (error: unknown): boolean => {
      errors.push(error);
      return false;
    };
    await followStream(
      { id: 'events', options: () => ({}), onEvent: () => {}, onBroken: broken },
      new AbortController().signal,
    );
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(errors).toMatchObject([{ info: { code: 'slot.not_found' } }]);
  });
});
