import { describe, expect, it } from 'vitest';
import type { SlotStateName } from '../../contract/slots.ts';
import { nextStep, type SlotSnapshot, type SlotStep } from './scheduler.ts';

const snapshot = (state: SlotStateName, over: Partial<SlotSnapshot> = {}): SlotSnapshot => ({
  state,
  active: 0,
  parallel: 2,
  queued: 0,
  isLoadRequested: false,
  isWaiting: false,
  isClosed: false,
  ...over,
});

describe('nextStep', () => {
  it.each<[string, SlotSnapshot, SlotStep]>([
    ['a waiting caller is served', snapshot('ready', { queued: 1 }), 'grant'],
    ['beside another one', snapshot('serving', { queued: 1, active: 1 }), 'grant'],
    ['but no more than the engine takes', snapshot('serving', { queued: 1, active: 2 }), 'rest'],
    ['nobody waits', snapshot('ready'), 'rest'],
    ['a drained slot stops', snapshot('draining'), 'stop'],
    ['a draining slot finishes first, whoever waits', snapshot('draining', { active: 1, queued: 3 }), 'rest'],
    ['a waiting caller has the slot loaded', snapshot('offline', { queued: 1 }), 'load'],
    ['an admin has it loaded', snapshot('offline', { isLoadRequested: true }), 'load'],
    ['nothing is loaded for nobody', snapshot('offline'), 'rest'],
    [
      'nothing is loaded while the gateway stops',
      snapshot('offline', { isLoadRequested: true, isClosed: true }),
      'rest',
    ],
    ['a load that waits for memory asks again', snapshot('offline', { queued: 1, isWaiting: true }), 'load'],
    ['nobody waits for it any more', snapshot('offline', { isWaiting: true }), 'withdraw'],
    ['nor for the trial of a failed slot', snapshot('error', { isWaiting: true }), 'withdraw'],
    [
      'a trial that waits for memory keeps its place',
      snapshot('error', { queued: 1, isWaiting: true }),
      'rest',
    ],
    [
      'the gateway stops while it waits',
      snapshot('offline', { isLoadRequested: true, isWaiting: true, isClosed: true }),
      'withdraw',
    ],
    ['a load that somebody waits for goes on', snapshot('starting', { queued: 1 }), 'rest'],
    ['a load that an admin asked for goes on', snapshot('warming', { isLoadRequested: true }), 'rest'],
    ['a load that nobody waits for is cut', snapshot('starting'), 'cancel-load'],
    ['also while warming', snapshot('warming'), 'cancel-load'],
    ['also when the gateway stops', snapshot('starting', { queued: 2, isClosed: true }), 'cancel-load'],
    ['a stopping slot is let go first', snapshot('stopping', { queued: 1 }), 'rest'],
    ['a failed slot waits for its back-off', snapshot('error', { isLoadRequested: true, queued: 1 }), 'rest'],
  ])('%s', (_, given, step) => expect(nextStep(given)).toBe(step));
});
