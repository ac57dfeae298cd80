import { randomBytes } from 'node:crypto';
import type { Launch } from '../engines/engine.ts';
import type { KeyDelivery } from '../engines/run-spec.ts';
import type { Endpoint, LoadedEngine } from './runner.ts';

/** A key for one start of one engine. */
export const newKey = (): string => randomBytes(32).toString('base64url');

/** What every request to the engine must carry. */
export const keyHeaders = (way: KeyDelivery, key: string): Record<string, string> =>
  way.by === 'none' ? {} : { authorization: `Bearer ${key}` };

/** The variables that hand the key over. */
export const keyEnv = (way: KeyDelivery, key: string): Record<string, string> =>
  way.by === 'env' ? { [way.name]: key } : {};

/** What is known of a loaded engine that tells nothing of itself. */
export const loadedAt = (launch: Launch, endpoint: Endpoint): LoadedEngine => ({
  ...endpoint,
  device: launch.device,
  context: launch.context,
  parallel: launch.parallel,
  threads: launch.threads,
});
