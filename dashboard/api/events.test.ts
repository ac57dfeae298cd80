import { describe, expect, it } from 'vitest';
import type { SlotRecord } from '../../daemon/contract/slots.ts';
import { withSlot } from './events.ts';

const slot = (name: string, state: SlotRecord['state']): SlotRecord => ({ name, state }) as SlotRecord;

describe('withSlot', () => {
  const list = { slots: [slot('agent', 'ready'), slot('embed', 'offline')] };

  it('replaces a known slot in its place and adds a new one at the end', () => {
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

  it('makes up no list before one was read', () => {
    expect(withSlot(undefined, slot('agent', 'ready'))).toBeUndefined();
  });
});
