import { SLOT_STATES, type SlotRecord } from '../../contract/slots.ts';
import type { MetricFactory } from './metric-factory.ts';

const BY_SLOT: readonly [name: string, help: string, value: (slot: SlotRecord) => number | null][] = [
  ['svc_queue_length', 'Requests waiting for a slot.', ({ queued }) => queued],
  ['svc_active_requests', 'Requests that a slot is serving.', ({ active }) => active],
  [
    'svc_slot_parallel',
    'Maximum number of requests that a slot serves in parallel.',
    ({ parallel }) => parallel,
  ],
  ['svc_slot_memory_bytes', 'Resident memory of the engine of a slot.', (slot) => slot.memory_bytes],
  ['svc_slot_degraded', '1 while a slot runs degraded.', ({ degraded }) => Number(degraded !== null)],
  [
    'svc_slot_parked',
    '1 while a slot is not retried after repeated failures.',
    (s) => Number(s.failure?.parked ?? false),
  ],
];

/** Registers gauges that read the slots at each scrape. Reading wakes no slot. */
export function slotGauges(make: MetricFactory, slots: () => readonly SlotRecord[]): void {
  for (const [name, help, value] of BY_SLOT) {
    make.gauge(name, help, ['slot'], (gauge) => {
      for (const slot of slots()) {
        const now = value(slot);
        if (now !== null) gauge.set({ slot: slot.name }, now);
      }
    });
  }
  make.gauge('svc_slot_state', '1 for the current state of a slot.', ['slot', 'state'], (gauge) => {
    for (const slot of slots())
      for (const state of SLOT_STATES) gauge.set({ slot: slot.name, state }, Number(slot.state === state));
  });
}
