import { expect, test } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import type { SlotConfig } from '../slots/config/slot-config.ts';
import type { Slots } from '../slots/slots.ts';
import { configureSlot } from './place-model.ts';

const actionsOf = async (
  config: Partial<SlotConfig> | undefined,
  record: Partial<SlotRecord>,
  context: number | null,
) => {
  const actions: string[] = [];
  const recordAction = (what: string) => async () => void actions.push(what);
  const slots = {
    config: () => config,
    get: () => ({ state: 'offline', context: null, ...record }),
    create: recordAction('create'),
    change: recordAction('change'),
    load: recordAction('load'),
    restart: recordAction('restart'),
  } as unknown as Slots;
  const placement = { slot: 'agent', modelId: 'new', type: 'llm', context } as const;
  await configureSlot(slots, placement, (change) => change()).catch((error: { code: string }) =>
    actions.push(error.code),
  );
  return actions;
};

test.each([
  ['no such slot', undefined, {}, null, ['create', 'load']],
  ['a built-in one without a file', { auto: false, model: null }, {}, null, ['change', 'load']],
  [
    'the same, with the demonstration model loaded',
    { auto: false, model: null },
    { state: 'ready' },
    null,
    ['change', 'restart'],
  ],
  ['an automatic one', { auto: true, model: 'old' }, {}, null, ['change', 'load']],
  ['one that has it', { auto: false, model: 'new' }, { state: 'ready' }, null, ['load']],
  [
    'one that has it with another window',
    { auto: false, model: 'new', context: 8192 },
    { state: 'ready', context: 8192 },
    4096,
    ['change', 'restart'],
  ],
  [
    'one that has it with this window',
    { auto: false, model: 'new', context: 4096 },
    { state: 'ready', context: 4096 },
    4096,
    ['load'],
  ],
  ['one that failed', { auto: false, model: 'new' }, { state: 'error' }, null, ['load']],
  ['a slot with a model of the user', { auto: false, model: 'theirs' }, {}, null, ['slot.exists']],
] as [string, Partial<SlotConfig> | undefined, Partial<SlotRecord>, number | null, string[]][])(
  '%s',
  async (_, config, record, context, expected) => {
    expect(await actionsOf(config, record, context)).toEqual(expected);
  },
);
