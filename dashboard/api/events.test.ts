import { QueryClient } from '@tanstack/react-query';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PullRecord } from '../../daemon/contract/pulls.ts';
import type { SlotRecord } from '../../daemon/contract/slots.ts';
import { collector, withPull, withSlot } from './events.ts';
import { keyOf } from './queries.ts';

const slot = (name: string, state: SlotRecord['state']): SlotRecord => ({ name, state }) as SlotRecord;

describe('withSlot', () => {
  const list = { slots: [slot('agent', 'ready'), slot('embed', 'offline')] };

  it('replaces a known slot at its position and adds a new one at the end', () => {
    expect(withSlot(list, slot('agent', 'serving'))?.slots.map((row) => row.state)).toEqual([
      'serving',
      'offline',
    ]);
    expect(withSlot(list, slot('tts', 'starting'))?.slots.map((row) => row.name)).toEqual([
      'agent',
      'embed',
      'tts',
    ]);
  });

  it('creates no list before one was loaded', () => {
    expect(withSlot(undefined, slot('agent', 'ready'))).toBeUndefined();
  });
});

describe('a pull', () => {
  const pull = (id: string, bytes: number): PullRecord => ({ id, bytes }) as PullRecord;

  it('is added to the front of the list, and creates no list', () => {
    const client = new QueryClient();
    vi.useFakeTimers();
    client.setQueryData(keyOf('pulls'), { pulls: [pull('a', 1)] });
    const take = collector(client);
    for (const bytes of [2, 3]) take({ event: 'pull', data: JSON.stringify({ pull: pull('a', bytes) }) });
    take({ event: 'pull', data: JSON.stringify({ pull: pull('b', 9) }) });
    vi.advanceTimersByTime(300);
    expect(client.getQueryData(keyOf('pulls'))).toEqual({ pulls: [pull('b', 9), pull('a', 3)] });
    expect(withPull(undefined, pull('a', 1))).toBeUndefined();
    vi.useRealTimers();
  });
});

describe('collector', () => {
  afterEach(() => vi.useRealTimers());

  it('turns a burst of events into one change of the list and one read of each stale part', () => {
    vi.useFakeTimers();
    const client = new QueryClient();
    client.setQueryData(keyOf('slots'), { slots: [slot('agent', 'ready')] });
    const invalidate = vi.spyOn(client, 'invalidateQueries').mockResolvedValue();
    const set = vi.spyOn(client, 'setQueryData');
    const take = collector(client);
    for (let at = 0; at < 100; at += 1) {
      take({ event: 'slot', data: JSON.stringify({ slot: slot('agent', at % 2 ? 'ready' : 'serving') }) });
    }
    take({ event: 'unheard-of', data: 'not read' });
    vi.advanceTimersByTime(300);
    expect(set).toHaveBeenCalledTimes(1);
    expect(client.getQueryData(keyOf('slots'))).toEqual({ slots: [slot('agent', 'ready')] });
    expect(invalidate.mock.calls.map(([filters]) => filters?.queryKey)).toEqual([['status'], ['v1.models']]);
  });

  it('reads the list of requests once for a burst of them', () => {
    vi.useFakeTimers();
    const client = new QueryClient();
    const invalidate = vi.spyOn(client, 'invalidateQueries').mockResolvedValue();
    const take = collector(client);
    for (let at = 0; at < 100; at += 1) take({ event: 'request', data: '{}' });
    vi.advanceTimersByTime(1400);
    expect(invalidate).not.toHaveBeenCalled();
    vi.advanceTimersByTime(200);
    expect(invalidate.mock.calls.map(([filters]) => filters?.queryKey)).toEqual([
      ['requests'],
      ['request'],
      ['usage'],
      ['usage.minutes'],
    ]);
  });
});
