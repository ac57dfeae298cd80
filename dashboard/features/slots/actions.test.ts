import { describe, expect, it } from 'vitest';
import { SLOT_STATES, type SlotRecord } from '../../../daemon/contract/slots.ts';
import { actionsOf } from './actions.ts';
import { openDialogOf } from './url-state.ts';

const slot = (over: Partial<SlotRecord> = {}) =>
  ({ state: 'ready', enabled: true, auto: false, model: 'tiny', ...over }) as SlotRecord;
const shows = (slot: SlotRecord) => {
  const { card, menu } = actionsOf(slot);
  return [...card, ...menu].map(({ show }) => show);
};

describe('actionsOf', () => {
  it('offers unload for a running slot, load for a stopped one, neither while it is stopping', () => {
    for (const state of SLOT_STATES) {
      const all = shows(slot({ state }));
      expect(all.includes('load') && all.includes('unload'), state).toBe(false);
      expect(all.includes('load') || all.includes('unload'), state).toBe(
        state !== 'draining' && state !== 'stopping',
      );
      expect(new Set(all).size).toBe(all.length);
    }
  });

  it('offers no action that would be refused', () => {
    expect(shows(slot({ enabled: false, state: 'offline' }))).toEqual(['edit', 'log', 'plan', 'delete']);
    expect(shows(slot({ model: null, state: 'offline' }))).toEqual(['swap', 'log', 'edit', 'delete']);
  });

  it('an automatic slot has no file to remove', () => {
    expect(shows(slot({ auto: true }))).not.toContain('delete');
  });
});

describe('openDialogOf', () => {
  it.each([
    ['', null],
    ['show=plan&slot=agent', { show: 'plan', slot: 'agent' }],
    ['show=new', { show: 'new', slot: '' }],
    ['show=plan', null],
    ['show=nonsense&slot=agent', null],
  ])('%j', (query, place) => expect(openDialogOf(new URLSearchParams(query))).toEqual(place));
});
