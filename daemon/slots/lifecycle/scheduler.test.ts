import { describe, expect, it } from 'vitest';
import type { SlotStateName } from '../../contract/slots.ts';
import { nextStep, type SlotSnapshot, type SlotStep } from './scheduler.ts';

const snapshot = (state: SlotStateName, over: Partial<SlotSnapshot> = {}): SlotSnapshot => ({
  state,
  active: 0,
  abandoned: 0,
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
    ['another caller is served at the same time', snapshot('serving', { queued: 1, active: 1 }), 'grant'],
    [
      'no more callers are served than the engine accepts',
      snapshot('serving', { queued: 1, active: 2 }),
      'rest',
    ],
    ['no caller waits', snapshot('ready'), 'rest'],
    ['a drained slot stops', snapshot('draining'), 'stop'],
    ['a draining slot finishes before waiting loads', snapshot('draining', { active: 1, queued: 3 }), 'rest'],
    [
      'a draining slot does not finish a request without a caller',
      snapshot('draining', { active: 1, abandoned: 1 }),
      'stop',
    ],
    [
      'a draining slot finishes a request with a caller',
      snapshot('draining', { active: 2, abandoned: 1 }),
      'rest',
    ],
    [
      'an abandoned request still counts',
      snapshot('serving', { active: 2, abandoned: 1, queued: 1 }),
      'rest',
    ],
    ['a waiting caller loads the slot', snapshot('offline', { queued: 1 }), 'load'],
    ['an admin loads the slot', snapshot('offline', { isLoadRequested: true }), 'load'],
    ['nothing is loaded without a caller', snapshot('offline'), 'rest'],
    [
      'nothing is loaded while the gateway stops',
      snapshot('offline', { isLoadRequested: true, isClosed: true }),
      'rest',
    ],
    [
      'a load that waits for memory requests admission again',
      snapshot('offline', { queued: 1, isWaiting: true }),
      'load',
    ],
    ['a load without a caller is withdrawn', snapshot('offline', { isWaiting: true }), 'withdraw'],
    [
      'the trial of a failed slot without a caller is withdrawn',
      snapshot('error', { isWaiting: true }),
      'withdraw',
    ],
    [
      'a trial that waits for memory keeps its position',
      snapshot('error', { queued: 1, isWaiting: true }),
      'rest',
    ],
    [
      'the gateway stops while it waits',
      snapshot('offline', { isLoadRequested: true, isWaiting: true, isClosed: true }),
      'withdraw',
    ],
    ['a load with a waiting caller continues', snapshot('starting', { queued: 1 }), 'rest'],
    ['a load that an admin requested continues', snapshot('warming', { isLoadRequested: true }), 'rest'],
    ['a load without a caller is cancelled', snapshot('starting'), 'cancel-load'],
    ['a load is also cancelled while warming', snapshot('warming'), 'cancel-load'],
    [
      'a load is also cancelled when the gateway stops',
      snapshot('starting', { queued: 2, isClosed: true }),
      'cancel-load',
    ],
    ['a stopping slot ends first', snapshot('stopping', { queued: 1 }), 'rest'],
    ['a failed slot waits for its back-off', snapshot('error', { isLoadRequested: true, queued: 1 }), 'rest'],
  ])('%s', (_, input, step) => expect(nextStep(input)).toBe(step));
});
