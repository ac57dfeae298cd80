import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import type { Call } from './handler.ts';
import { SseEndpoint, type SseEndpointDeps } from './sse-endpoint.ts';

/** Replaces a real response. The test sets its backlog and its end. */
class Answer extends EventEmitter {
  written = '';
  writableLength = 0;
  state: 'open' | 'ended' | 'cut' = 'open';
  writeHead = () => this;
  write(text: string): boolean {
    this.written += text;
    return true;
  }
  end(last = '', written?: () => void): void {
    this.written += last;
    if (written) written();
    else this.state = 'ended';
    this.emit('close');
  }
  destroy(): void {
    if (this.state === 'open') this.state = 'cut';
    this.emit('close');
  }
}

let allowed: boolean;
/** Whether a caller of the client key would pass an admin route. */
let guest: boolean;
let stop: AbortController;
let changed: (() => void)[];
let endpoint: SseEndpoint;

beforeEach(() => {
  vi.useFakeTimers();
  allowed = true;
  guest = false;
  stop = new AbortController();
  changed = [];
  endpoint = new SseEndpoint(deps(), 2);
});
afterEach(() => vi.useRealTimers());

function deps(): SseEndpointDeps {
  const auth = {
    decide: (rule: string) => (allowed && !(guest && rule === 'admin') ? 'pass' : 'auth.required'),
    caller: () => ({ tier: 'admin' }),
    onChange: (listener: () => void) => changed.push(listener),
  };
  return { auth, stopping: stop.signal } as unknown as SseEndpointDeps;
}

const admins = { route: { auth: 'admin' }, auth: {} } as unknown as Call;
function open(call = admins) {
  const answer = new Answer();
  const ctx = { req: { method: 'GET' }, res: answer, state: call } as unknown as Parameters<
    SseEndpoint['open']
  >[0];
  return { answer, stream: endpoint.open(ctx) };
}
const event = { id: 7, event: 'slot', data: '{}' };
const codeOf = (trigger: () => unknown) => {
  try {
    trigger();
  } catch (error) {
    return (error as GatewayError).code;
  }
  return null;
};

describe('SseEndpoint', () => {
  it('keeps a silent stream alive with comments, until it closes', () => {
    const { answer } = open();
    const before = answer.written;
    vi.advanceTimersByTime(31_000);
    expect(answer.written.slice(before.length)).toBe(': keep-alive\n\n: keep-alive\n\n');
    answer.destroy();
    vi.advanceTimersByTime(60_000);
    expect(answer.written.length).toBe(before.length + 2 * ': keep-alive\n\n'.length);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('writes events in the standard format', () => {
    const { answer, stream } = open();
    stream.send(event);
    stream.sendId(9);
    vi.advanceTimersByTime(20);
    expect(answer.written.endsWith('id: 7\nevent: slot\ndata: {}\n\nid: 9\n\n')).toBe(true);
  });

  it('writes the first event at once and those that follow it closely together', () => {
    const { answer, stream } = open();
    const write = vi.spyOn(answer, 'write');
    for (let count = 0; count < 100; count++) stream.sendId(count);
    expect(write.mock.calls).toEqual([['id: 0\n\n']]);
    vi.advanceTimersByTime(20);
    expect(write).toHaveBeenCalledTimes(2);
    expect(answer.written.endsWith('id: 98\n\nid: 99\n\n')).toBe(true);
    vi.advanceTimersByTime(20);
    stream.sendId(100);
    expect(write).toHaveBeenCalledTimes(3);
  });

  it('sends no pending events to a reader that has lost its rights, and all of them before an end', () => {
    const [one, two] = [open(), open()];
    for (const { stream } of [one, two]) for (const id of [1, 2]) stream.sendId(id);
    two.stream.end();
    expect([two.answer.state, two.answer.written.endsWith('id: 1\n\nid: 2\n\n')]).toEqual(['ended', true]);
    allowed = false;
    vi.advanceTimersByTime(20);
    expect([one.answer.state, one.answer.written.endsWith('id: 1\n\n')]).toEqual(['cut', true]);
  });

  it('sends pending events from before the change of rights, then disconnects', () => {
    const { answer, stream } = open();
    for (const id of [1, 2]) stream.sendId(id);
    allowed = false;
    for (const notify of changed) notify();
    expect([answer.state, answer.written.endsWith('id: 1\n\nid: 2\n\n')]).toEqual(['cut', true]);
    stream.sendId(3);
    vi.advanceTimersByTime(100);
    expect(answer.written).not.toContain('id: 3');
  });

  it('disconnects a reader that is too slow, and releases its resources', () => {
    const { answer, stream } = open();
    const onEnd = vi.fn();
    stream.onClose(onEnd);
    answer.writableLength = 2 << 20;
    stream.send(event);
    expect([answer.state, stream.open, onEnd.mock.calls.length]).toEqual(['cut', false, 1]);
    const written = answer.written;
    stream.send(event);
    stream.end();
    expect([answer.written, answer.state]).toEqual([written, 'cut']);
    stream.onClose(onEnd);
    expect(onEnd).toHaveBeenCalledTimes(2);
  });

  it('disconnects readers without rights: at an event, at a comment, and immediately when keys or sessions change', () => {
    const triggers = [
      (stream: ReturnType<typeof open>['stream']) => stream.send(event),
      () => vi.advanceTimersByTime(15_000),
      () => {
        for (const notify of changed) notify();
      },
    ];
    for (const trigger of triggers) {
      allowed = true;
      const { answer, stream } = open();
      const written = answer.written;
      allowed = false;
      trigger(stream);
      expect([answer.state, answer.written]).toEqual(['cut', written]);
    }
  });

  it('checks the admin tier once per batch, and again after a change of rights', () => {
    guest = true;
    const { stream } = open({ route: { auth: 'client' }, auth: {} } as unknown as Call);
    expect(stream.isAdmin()).toBe(false);
    guest = false;
    expect(stream.isAdmin()).toBe(true);
    stream.sendId(1);
    expect(stream.isAdmin()).toBe(true);
    guest = true;
    expect(stream.isAdmin()).toBe(true);
    for (const notify of changed) notify();
    expect(stream.isAdmin()).toBe(false);
    guest = false;
    vi.advanceTimersByTime(20);
    expect(stream.isAdmin()).toBe(true);
  });

  it('reserves connections for callers with admin rights, so that others cannot lock the owner out', () => {
    const client = { route: { auth: 'client' }, auth: {} } as unknown as Call;
    endpoint = new SseEndpoint(deps(), 3, 1);
    guest = true;
    const others = [open(client), open(client)];
    expect(codeOf(() => open(client))).toBe('events.too_many');
    guest = false;
    const owner = open(client);
    expect(codeOf(() => open(client))).toBe('events.too_many');
    others[0]?.stream.end();
    guest = true;
    expect(codeOf(() => open(client))).toBe('events.too_many');
    owner.stream.end();
    expect(codeOf(() => open(client))).toBeNull();
  });

  it('limits the number of readers, and ends all of them when the gateway stops', () => {
    const both = [open(), open()];
    expect(codeOf(open)).toBe('events.too_many');
    both[0]?.stream.end();
    const third = open();
    stop.abort();
    expect([both[1]?.answer.state, third.answer.state]).toEqual(['ended', 'ended']);
    expect(codeOf(open)).toBe('slot.draining');
    expect(new GatewayError('slot.draining').status).toBe(503);
  });
});
