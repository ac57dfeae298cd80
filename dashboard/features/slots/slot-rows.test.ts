import { describe, expect, it } from 'vitest';
import { SLOT_KEYS } from '../../../daemon/contract/slot-keys.ts';
import {
  SlotCreate,
  type SlotPlanView,
  type SlotRecord,
  SlotSettings,
} from '../../../daemon/contract/slots.ts';
import { bodyOf, issuesOf } from '../../ui/form/draft.ts';
import { slotBaseline, slotRows } from './slot-rows.ts';

describe('slotRows', () => {
  it('every key of the daemon has a field with words of its own', () => {
    const { rows, more } = slotRows([], false);
    expect([...rows, ...more].map(({ key }) => key).sort()).toEqual(Object.keys(SLOT_KEYS).sort());
    for (const { key, label } of [...rows, ...more]) expect(label).not.toBe(key);
    expect(slotRows([], true).rows[0]?.key).toBe('name');
  });

  it('what the form sends is what the schema of the daemon takes', () => {
    const { rows, more } = slotRows(['tiny'], true);
    const typed = { name: 'writer', model: 'tiny', context: '4096', pinned: 'yes', idle_unload: '15 min' };
    const body = bodyOf([...rows, ...more], { ...typed, 'voice.speed': '1.2' }, {});
    expect(SlotCreate.parse(body)).toEqual({
      name: 'writer',
      model: 'tiny',
      context: 4096,
      pinned: true,
      idle_unload: '15 min',
      voice: { speed: 1.2 },
    });
    const wrong = bodyOf(rows, { context: 'many', type: 'soup' }, {});
    expect(Object.keys(issuesOf(SlotSettings, wrong, rows)).sort()).toEqual(['context', 'type']);
  });
});

it('slotBaseline holds what the file says and nothing that is only a default', () => {
  const slot = { enabled: true, parallel: 2, pinned: false, type: 'llm' } as SlotRecord;
  const plan = {
    launch: {
      model_id: { value: 'tiny', from: 'file' },
      context: { value: 8192, from: 'default' },
      device: { value: 'cpu', from: 'file' },
    },
  } as unknown as SlotPlanView;
  expect(slotBaseline(slot, plan)).toMatchObject({
    model: 'tiny',
    context: '',
    device: 'cpu',
    parallel: '2',
  });
  expect(slotBaseline(slot, undefined)).toMatchObject({ model: '', pinned: 'no' });
});
