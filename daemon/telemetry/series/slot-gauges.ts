import { usesOtherEngine } from '../../contract/shared-engine.ts';
import { SLOT_STATES, type SlotRecord } from '../../contract/slots.ts';
import type { MetricFactory } from './metric-factory.ts';

/** Of an engine that slots share, the figures are those of the slot that loaded it. */
const BY_ENGINE: readonly [name: string, help: string, value: (slot: SlotRecord) => number | null][] = [
  ['svc_queue_length', 'Requests waiting for a slot.', ({ queued }) => queued],
  ['svc_active_requests', 'Requests that a slot is serving.', ({ active }) => active],
  [
    'svc_slot_parallel',
    'Maximum number of requests that a slot serves in parallel.',
    ({ parallel }) => parallel,
  ],
  ['svc_slot_memory_bytes', 'Resident memory of the engine of a slot.', (slot) => slot.memory_bytes],
];

const BY_SLOT: typeof BY_ENGINE = [
  ['svc_slot_degraded', '1 while a slot runs degraded.', ({ degraded }) => Number(degraded !== null)],
  [
    'svc_slot_parked',
    '1 while a slot is not retried after repeated failures.',
    (s) => Number(s.failure?.parked ?? false),
  ],
];

/** Registers gauges that read the slots at each scrape. Reading wakes no slot. */
export function slotGauges(make: MetricFactory, slots: () => readonly SlotRecord[]): void {
  for (const [name, help, value] of [...BY_ENGINE, ...BY_SLOT]) {
    const ofEngine = BY_ENGINE.some(([each]) => each === name);
    make.gauge(name, help, ['slot'], (gauge) => {
      for (const slot of slots()) {
        const now = ofEngine && usesOtherEngine(slot) ? null : value(slot);
        if (now !== null) gauge.set({ slot: slot.name }, now);
      }
    });
  }
  make.gauge('svc_slot_state', '1 for the current state of a slot.', ['slot', 'state'], (gauge) => {
    for (const slot of slots())
      for (const state of SLOT_STATES) gauge.set({ slot: slot.name, state }, Number(slot.state === state));
  });
}
