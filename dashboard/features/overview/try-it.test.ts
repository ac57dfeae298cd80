import { expect, it } from 'vitest';
import { slotRecord } from '../../../daemon/contract/testing/slot-record.ts';
import { slotToTry } from './try-it.tsx';

const cold = { state: 'offline', context: null } as const;
const hollow = slotRecord({ name: 'agent', ...cold, model: null, model_missing: 'gone' });
const coder = slotRecord({ name: 'coder', ...cold });
const writer = slotRecord({ name: 'writer' });

it.each([
  ['agent, also while it is not loaded', [coder, writer, slotRecord({ name: 'agent', ...cold })], 'agent'],
  ['who is loaded, where agent has no model', [hollow, coder, writer], 'writer'],
  ['an unloaded slot when none is loaded', [hollow, coder], 'coder'],
  ['none without a model', [hollow], undefined],
  ['none of another type', [slotRecord({ name: 'embed', type: 'embedding' })], undefined],
])('tries %s', (_, slots, name) => expect(slotToTry(slots)?.name).toBe(name));
