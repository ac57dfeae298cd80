import { isLost, needsLogin } from './api-error.ts';
import type { SessionState } from './session-state.ts';

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
export function showsOutdatedNotice(
  reading: Reading,
  place: { up: boolean; sessionState: SessionState },
): boolean {
  if (!isOutdated(reading) || !place.up || isLost(reading.error)) return false;
  const locked = place.sessionState === 'expired' || place.sessionState === 'enforced';
  return !(locked && needsLogin(reading.error));
}
