import { randomBytes } from 'node:crypto';
import type { Launch } from '../engines/engine.ts';
import type { KeyDelivery } from '../engines/run-spec.ts';
import type { Endpoint, LoadedEngine } from './runner.ts';

/** Creates a key for one start of one engine. */
export const newKey = (): string => randomBytes(32).toString('base64url');

/** Returns the headers that every request to the engine must have. */
export const keyHeaders = (way: KeyDelivery, key: string): Record<string, string> =>
  way.by === 'none' ? {} : { authorization: `Bearer ${key}` };

/** Returns the environment variables that deliver the key. */
export const keyEnv = (way: KeyDelivery, key: string): Record<string, string> =>
  way.by === 'env' ? { [way.name]: key } : {};

/** Returns what is known about a loaded engine that reports nothing itself. */
export const loadedAt = (launch: Launch, endpoint: Endpoint): LoadedEngine => ({
  ...endpoint,
  device: launch.device,
  context: launch.context,
  parallel: launch.parallel,
  threads: launch.threads,
});
