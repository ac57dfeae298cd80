import type { SlotConfig } from '../config/slot-config.ts';

/** The settings that decide how long an engine stays loaded. */
export type StayTerms = Pick<SlotConfig, 'pinned' | 'priority' | 'idleUnloadS'>;

/**
 * Returns the terms of an engine that several slots use: it stays as long as the slot that needs it longest. An idle time
 * of 0 means never. Pure.
 */
export function sharedTerms([first, ...rest]: readonly [StayTerms, ...StayTerms[]]): StayTerms {
  return rest.reduce<StayTerms>(
    (all, { pinned, priority, idleUnloadS }) => ({
      pinned: all.pinned || pinned,
      priority: Math.max(all.priority, priority),
      idleUnloadS: Math.min(all.idleUnloadS, idleUnloadS) === 0 ? 0 : Math.max(all.idleUnloadS, idleUnloadS),
    }),
    { pinned: first.pinned, priority: first.priority, idleUnloadS: first.idleUnloadS },
  );
}
