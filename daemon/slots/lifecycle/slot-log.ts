import type { SlotConfig } from '../config/slot-config.ts';
import { engineOf } from '../engines/table.ts';

/** Returns the name of log and record for a process that several slots share. No slot can have this name. */
export const sharedRun = (process: string): string => `@${process}`;

/** Returns the name of the log of the slot's engine, whether it runs or not. */
export function slotLogName({
  name,
  engine,
  runner,
}: Pick<SlotConfig, 'name' | 'engine' | 'runner'>): string {
  const shared = runner === 'process' ? engineOf(engine)?.shared : undefined;
  return shared === undefined ? name : sharedRun(shared);
}
