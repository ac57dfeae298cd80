import type { SlotConfig } from '../config/slot-file.ts';
import { engineOf } from '../engines/table.ts';

/** The name of log and record of a process that several slots share; no slot can have it. */
export const sharedRun = (process: string): string => `@${process}`;

/** The name of the log that the engine of such a slot writes, whether it runs or not. */
export function slotLogName({
  name,
  engine,
  runner,
}: Pick<SlotConfig, 'name' | 'engine' | 'runner'>): string {
  const shared = runner === 'process' ? engineOf(engine)?.shared : undefined;
  return shared === undefined ? name : sharedRun(shared);
}
