import type { SlotRecord } from './slots.ts';

/** Returns whether the engine of another slot serves a slot, so that its figures count there. */
export const usesOtherEngine = ({ name, shared_engine: shared }: SlotRecord): boolean =>
  shared != null && shared.slot !== null && shared.slot !== name;

const joinNames = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** Describes the engine that a slot shares; null when it shares none. */
export function sharedEngineText({ shared_engine: shared }: SlotRecord): string | null {
  return shared === undefined ? null : `Shares its engine with ${joinNames(shared.with)}`;
}

/**
 * Returns why the engine of a slot that was unloaded is still loaded: the slots that use it; null when they are not the
 * reason.
 */
export function staysLoadedText({ name, state, shared_engine: shared }: SlotRecord): string | null {
  const isLoaded = state !== 'offline' && state !== 'error';
  if (!isLoaded || shared === undefined || shared.used_by.length === 0 || shared.used_by.includes(name))
    return null;
  return `The engine stays loaded for ${joinNames(shared.used_by)}`;
}
