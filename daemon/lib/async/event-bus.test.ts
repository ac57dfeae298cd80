import { describe, expect, it } from 'vitest';
import { EventBus } from './event-bus.ts';

interface TestEvents {
  word: string;
}
const filled = (count: number, keep = 4): EventBus<TestEvents> => {
  const bus = new EventBus<TestEvents>(keep, 100);
  for (let i = 0; i < count; i++) bus.emit('word', `w${i}`);
  return bus;
};
const ids = (entries: { id: number }[] | null) => entries?.map(({ id }) => id) ?? null;

describe('since()', () => {
  it('returns the events after an id, oldest first', () => {
    expect(ids(filled(3).since(100))).toEqual([101, 102]);
    expect(ids(filled(3).since(102))).toEqual([]);
    expect(ids(filled(3).since(99))).toEqual([100, 101, 102]);
  });

  it('returns null when the ring no longer reaches back, and for an unknown id', () => {
    expect(filled(9).since(103)).toBeNull();
    expect(ids(filled(9).since(104))).toEqual([105, 106, 107, 108]);
    expect(filled(3).since(103)).toBeNull();
    expect(filled(0).since(98)).toBeNull();
    expect(filled(0).since(99)).toEqual([]);
  });
});

describe('last()', () => {
  it('returns the newest entries, oldest first, never more than exist', () => {
    expect(ids(filled(9).last(2))).toEqual([107, 108]);
    expect(ids(filled(3).last(9))).toEqual([100, 101, 102]);
    expect(filled(3).last(0)).toEqual([]);
    expect([filled(0).lastId, filled(3).lastId]).toEqual([99, 102]);
  });
});

describe('subscribe()', () => {
  it('emits later events until unsubscribed; removes a listener that throws', () => {
    const bus = filled(1);
    const received: unknown[] = [];
    const end = bus.subscribe(({ payload }) => received.push(payload));
    let thrown = 0;
    bus.subscribe(() => {
      thrown += 1;
      throw new Error('listener');
    });
    bus.emit('word', 'a');
    bus.emit('word', 'b');
    end();
    bus.emit('word', 'c');
    expect([received, thrown]).toEqual([['a', 'b'], 1]);
  });
});
