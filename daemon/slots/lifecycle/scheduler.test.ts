import { describe, expect, it } from 'vitest';
import type { SlotStateName } from '../../contract/slots.ts';
import { nextStep, type SlotPicture, type SlotStep } from './scheduler.ts';

const picture = (state: SlotStateName, over: Partial<SlotPicture> = {}): SlotPicture => ({
  state,
  active: 0,
  parallel: 2,
  queued: 0,
  held: false,
  waiting: false,
  closed: false,
  ...over,
});

describe('nextStep', () => {
  it.each<[string, SlotPicture, SlotStep]>([
    ['a waiting caller is served', picture('ready', { queued: 1 }), 'grant'],
    ['beside another one', picture('serving', { queued: 1, active: 1 }), 'grant'],
    ['but no more than the engine takes', picture('serving', { queued: 1, active: 2 }), 'rest'],
    ['nobody waits', picture('ready'), 'rest'],
    ['a drained slot stops', picture('draining'), 'stop'],
    ['a draining slot finishes first, whoever waits', picture('draining', { active: 1, queued: 3 }), 'rest'],
    ['a waiting caller has the slot loaded', picture('offline', { queued: 1 }), 'load'],
    ['an admin has it loaded', picture('offline', { held: true }), 'load'],
    ['nothing is loaded for nobody', picture('offline'), 'rest'],
    ['nothing is loaded while the gateway stops', picture('offline', { held: true, closed: true }), 'rest'],
    ['a load that waits for memory asks again', picture('offline', { queued: 1, waiting: true }), 'load'],
    ['nobody waits for it any more', picture('offline', { waiting: true }), 'leave-line'],
    ['nor for the trial of a failed slot', picture('error', { waiting: true }), 'leave-line'],
    ['a trial that waits for memory keeps its place', picture('error', { queued: 1, waiting: true }), 'rest'],
    [
      'the gateway stops while it waits',
      picture('offline', { held: true, waiting: true, closed: true }),
      'leave-line',
    ],
    ['a load that somebody waits for goes on', picture('starting', { queued: 1 }), 'rest'],
    ['a load that an admin asked for goes on', picture('warming', { held: true }), 'rest'],
    ['a load that nobody waits for is cut', picture('starting'), 'cut-load'],
    ['also while warming', picture('warming'), 'cut-load'],
    ['also when the gateway stops', picture('starting', { queued: 2, closed: true }), 'cut-load'],
    ['a stopping slot is let go first', picture('stopping', { queued: 1 }), 'rest'],
    ['a failed slot waits for its back-off', picture('error', { held: true, queued: 1 }), 'rest'],
  ])('%s', (_, given, step) => expect(nextStep(given)).toBe(step));
});
