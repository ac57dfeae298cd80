import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { StreamEvent } from '../../../daemon/contract/event-stream.ts';
import { ApiError, lost } from '../../api/api-error.ts';
import { LineBuffer } from './line-buffer.ts';
import { LogFollower } from './log-follower.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const line = (data: string, id: string | null = null, event = 'line'): StreamEvent => ({ event, data, id });

function follow() {
  const lines = new LineBuffer<string>(10);
  const drawn: string[] = [];
  const notified: unknown[] = [];
  const follower = new LogFollower<string>({
    lines,
    gap: '…',
    read: ({ event, data }) => (event === 'line' ? data : null),
    draw: () => drawn.push(shown()),
    live: () => notified.push('live'),
    broken: (refusal) => notified.push(refusal),
  });
  const shown = () =>
    lines
      .shown()
      .map((each) => each.line)
      .join(' ');
  return { follower, drawn, notified, shown };
}

it('parses lines and marks gaps, throttled to five draws a second', () => {
  const { follower, drawn } = follow();
  for (const event of [line('a'), line('x', null, 'other'), line('{}', null, 'gap'), line('b')]) {
    follower.event(event);
  }
  vi.advanceTimersByTime(199);
  expect(drawn).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(drawn).toEqual(['a … b']);
  vi.advanceTimersByTime(1000);
  expect(drawn).toHaveLength(1);
  follower.event(line('c'));
  vi.advanceTimersByTime(200);
  expect(drawn).toEqual(['a … b', 'a … b c']);
});

it('reads a log without ids again after a break, and continues one with ids', () => {
  for (const [id, after] of [
    [null, 'last'],
    ['7', 'first last'],
  ] as const) {
    const { follower, shown } = follow();
    follower.opened(false);
    follower.event(line('first', id));
    expect(follower.broke(null)).toBe(true);
    follower.opened(true);
    follower.event(line('last', id));
    expect(shown()).toBe(after);
  }
});

it('draws after a reconnect without lines', () => {
  const { follower, drawn, notified } = follow();
  follower.event(line('a'));
  follower.opened(true);
  vi.advanceTimersByTime(200);
  expect([drawn, notified]).toEqual([[''], ['live']]);
});

it('reconnects after a lost connection, and reports a refusal', () => {
  const { follower, notified } = follow();
  const refused = new ApiError({ ...lost().info, status: 403, code: 'auth.forbidden' });
  expect([null, new TypeError('cut'), lost(), refused].map((cause) => follower.broke(cause))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(notified).toEqual([null, null, null, refused]);
});

it('draws nothing after a stop', () => {
  const { follower, drawn } = follow();
  follower.event(line('a'));
  follower.stop();
  vi.advanceTimersByTime(1000);
  expect(drawn).toEqual([]);
});
