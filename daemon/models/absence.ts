import type { ModelRow } from '../store/models.ts';

/** How long a model has been out of sight: on how many days it was looked for in vain, and which was the last of them. */
export interface Absence {
  readonly days: number;
  /** `2026-01-31`, UTC. */
  readonly day: string;
}

/** After as many days the model is not coming back. */
const MAX_DAYS = 90;

/**
 * The absence after one more look in vain. Days are counted instead of being reckoned from a date, because a machine whose clock is set
 * only after its start would otherwise have waited for half a century.
 */
export function recordMiss(absence: Absence | null, now: number): Absence {
  const day = new Date(now).toISOString().slice(0, 10);
  if (absence === null) return { days: 1, day: day };
  return absence.day === day ? absence : { days: absence.days + 1, day: day };
}

/** Whether nobody waits for the model any more. */
export const isPermanent = ({ days }: Absence): boolean => days > MAX_DAYS;

/** The absence that a row tells; null for a model that was there. */
export function absenceOf({ header }: Pick<ModelRow, 'header'>): Absence | null {
  const { absence } = header;
  if (typeof absence !== 'object' || absence === null) return null;
  const { days, day } = absence as Partial<Absence>;
  return typeof days === 'number' && typeof day === 'string' ? { days, day } : null;
}
