import type { AdmissionDeps } from './controller.ts';

/** What admission knows of slots while none is loaded: enough for a forecast, which changes nothing. */
export const NOTHING_LOADED = {
  model: () => null,
  memoryUses: () => [],
  memoryOf: () => null,
  measureMemory: async () => null,
  cardMemoryOf: async () => null,
  rereadCards: () => false,
  reclaimHost: () => {},
  evict: () => {},
  isAlreadyRunning: () => false,
  retry: () => {},
} as const satisfies Partial<AdmissionDeps>;
