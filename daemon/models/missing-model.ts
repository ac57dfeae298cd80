import type { ModelRow } from '../store/models.ts';

/** How long a model has been missing: the number of days with a failed search, and the last of them. */
export interface Absence {
  readonly days: number;
  /** `2026-01-31`, UTC. */
  readonly day: string;
}

/** After this many days the model is considered removed. */
const MAX_DAYS = 90;

/**
 * Records one more failed search. Counts distinct days instead of comparing dates, because a machine without
 * a battery-backed clock starts in 1970 and would seem to have waited for decades.
 */
export function recordMiss(absence: Absence | null, now: number): Absence {
  const day = new Date(now).toISOString().slice(0, 10);
  if (absence === null) return { days: 1, day: day };
  return absence.day === day ? absence : { days: absence.days + 1, day: day };
}

/** Returns whether the model is considered removed. */
export const isPermanent = ({ days }: Absence): boolean => days > MAX_DAYS;

/** Returns the absence stored in a row. Null for a model that is present. */
export function absenceOf({ header }: Pick<ModelRow, 'header'>): Absence | null {
  const { absence } = header;
  if (typeof absence !== 'object' || absence === null) return null;
  const { days, day } = absence as Partial<Absence>;
  return typeof days === 'number' && typeof day === 'string' ? { days, day } : null;
}
