import { isLost, needsLogin } from './api-error.ts';
import type { Gate } from './gate.ts';

/** The parts of a query result that show whether its data is current. */
export interface Reading {
  readonly data: unknown;
  readonly isError: boolean;
  readonly error: unknown;
}

/** Whether the shown data is outdated: a refresh failed and the previous data is still shown. */
export const isOutdated = ({ data, isError }: Reading): boolean => isError && data !== undefined;

/**
 * Whether to show a notice on the outdated data itself. Without a connection or a session, the notice above the view covers
 * everything.
 */
export function tellsOutdated(reading: Reading, place: { up: boolean; gate: Gate }): boolean {
  if (!isOutdated(reading) || !place.up || isLost(reading.error)) return false;
  const locked = place.gate === 'expired' || place.gate === 'enforced';
  return !(locked && needsLogin(reading.error));
}
