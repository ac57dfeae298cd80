/** A worker without an engine whose save takes `saveMs`, for tests of the limits at its end. */
import { type LoadedService, runWorker } from '../lifecycle.ts';
import type { WorkerInfo } from '../protocol.ts';

interface SavingConfig {
  readonly key: string;
  readonly saveMs: number;
}

export const LIMITS = { forceExitMs: 1_500, saveLimitMs: 4_500 };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const service = ({ saveMs }: SavingConfig): LoadedService => ({
  info: {} as WorkerInfo,
  routes: {},
  stats: () => ({ active: 0, queued: 0, tokens_generated: 0 }),
  save: () => pause(saveMs),
  dispose: async () => {},
});

if (process.send !== undefined)
  runWorker<SavingConfig>(
    {
      read: (message) => (message as { config: SavingConfig }).config,
      load: async (config) => service(config),
    },
    LIMITS,
  );
