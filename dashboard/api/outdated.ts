import { isLost, needsLogin } from './api-error.ts';
import type { Gate } from './gate.ts';

/** One read, as far as it tells how old its data is. */
export interface Reading {
  readonly data: unknown;
  readonly isError: boolean;
  readonly error: unknown;
}

/** Whether what is shown is older than it looks: a refresh failed, and the data of before stayed. */
export const isOutdated = ({ data, isError }: Reading): boolean => isError && data !== undefined;

/**
 * Whether the data has to say by itself that it is outdated. Without a connection, and where the whole view waits for a
 * login, the bar above the view says so for all of it.
 */
export function tellsOutdated(reading: Reading, place: { up: boolean; gate: Gate }): boolean {
  if (!isOutdated(reading) || !place.up || isLost(reading.error)) return false;
  const locked = place.gate === 'expired' || place.gate === 'enforced';
  return !(locked && needsLogin(reading.error));
}
