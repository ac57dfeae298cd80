import { describe, expect, it } from 'vitest';
import { SLOT_STATES, type SlotStateName } from '../../contract/slots.ts';
import { canTransition, IllegalTransition, SlotMachine, TRANSITIONS } from './slot.ts';

const LEGAL = [
  'offline>pulling offline>starting',
  'pulling>starting pulling>stopping pulling>error',
  'starting>warming starting>stopping starting>error',
  'warming>ready warming>stopping warming>error',
  'ready>serving ready>draining ready>stopping ready>error',
  'serving>ready serving>draining serving>error',
  'draining>stopping',
  'stopping>offline stopping>error',
  'error>pulling error>starting error>offline',
]
  .join(' ')
  .split(' ');

const PAIRS = SLOT_STATES.flatMap((from) => SLOT_STATES.map((to) => [from, to] as const));

/** Returns a machine in `state`, reached by the shortest legal way through the table. */
function machineIn(state: SlotStateName): SlotMachine {
  const paths: SlotStateName[][] = [['offline']];
  for (const path of paths) {
    const last = path.at(-1) as SlotStateName;
    if (last === state) {
      const machine = new SlotMachine('agent', () => {});
      for (const step of path.slice(1)) machine.transition(step);
      return machine;
    }
    for (const to of TRANSITIONS[last]) if (!path.includes(to)) paths.push([...path, to]);
  }
  throw new Error(`${state} cannot be reached`);
}

describe('the transition table', () => {
  it.each(PAIRS)('%s → %s is legal only when the table lists it', (from, to) => {
    const machine = machineIn(from);
    const legal = LEGAL.includes(`${from}>${to}`);
    expect(canTransition(from, to)).toBe(legal);
    if (legal) {
      machine.transition(to);
      expect(machine.state).toBe(to);
    } else {
      expect(() => machine.transition(to)).toThrow(IllegalTransition);
      expect(machine.state).toBe(from);
    }
  });

  it('every state can be left and leads back to offline', () => {
    for (const state of SLOT_STATES) {
      const reached = new Set<SlotStateName>([state]);
      for (const at of reached) for (const to of TRANSITIONS[at]) reached.add(to);
      expect(reached.has('offline')).toBe(true);
      expect(reached.has('ready')).toBe(true);
    }
  });

  it('names slot, from and to in the error', () => {
    expect(() => machineIn('offline').transition('serving')).toThrow('slot agent: offline → serving');
  });

  it('is at rest while nothing runs, and again when it has ended', async () => {
    const machine = new SlotMachine('agent', () => {});
    await machine.atRest;
    machine.transition('starting');
    let rested = false;
    const rest = machine.atRest.then(() => {
      rested = true;
    });
    machine.transition('stopping');
    await Promise.resolve();
    expect(rested).toBe(false);
    machine.transition('error');
    await rest;
    await machine.atRest;
  });

  it('a promise of rest that was requested during the pull resolves although the load has started since', async () => {
    const machine = new SlotMachine('agent', () => {});
    machine.transition('pulling');
    const rest = machine.atRest;
    for (const state of ['starting', 'stopping', 'offline'] as const) machine.transition(state);
    await rest;
  });

  it('reports each transition once', () => {
    const reported: string[] = [];
    const machine = new SlotMachine('agent', (to) => reported.push(to));
    machine.transition('starting');
    machine.transition('warming');
    expect(reported).toEqual(['starting', 'warming']);
  });
});
