import type { SlotView } from '../../slots/slot-view.ts';
import { modelNamed, type RoutingView, slotNamed } from './routing-view.ts';

/**
 * Legacy alias (docs/spec/specification.md#legacy-alias). Refers to `agent` unless a slot of that name
 * exists.
 */
export const LEGACY_ALIAS = 'agent-hermes';

/** Virtual names with a chain of several slots. Every other `svc/<slot>` is that slot alone. */
export const VIRTUAL_CHAINS: Readonly<Record<string, readonly string[]>> = {
  'svc/agent': ['agent'],
  'svc/utility': ['utility', 'agent'],
  'svc/npu': ['npu', 'utility', 'agent'],
};
export const VIRTUAL_PREFIX = 'svc/';

/**
 * Slot names with a fixed meaning (docs/spec/specification.md#slot-names). Callers rely on them, so they
 * always refer to the slot, whatever the model ids are.
 */
const SPECIFIED_SLOTS: ReadonlySet<string> = new Set([
  'agent',
  'utility',
  'embed',
  'rerank',
  'tts',
  'stt',
  'img',
]);

/**
 * Returns the slot that a name refers to as an alias: the one of this name, or `agent` for the legacy alias.
 * Returns none when a registered model has this id and the slot holds another one: a caller who names a model
 * is never served by another. `svc/NAME` always refers to the slot.
 */
export function aliasedSlot(name: string, view: RoutingView): SlotView | undefined {
  const slot = slotNamed(view, name);
  if (slot === undefined) return name === LEGACY_ALIAS ? slotNamed(view, 'agent') : undefined;
  if (slot.model === name || SPECIFIED_SLOTS.has(name)) return slot;
  return modelNamed(view, name) === undefined ? slot : undefined;
}

/**
 * Returns whether a name refers to a slot of this gateway: a slot name, the legacy alias, or a virtual name.
 */
export const meansSlot = (name: string, view: RoutingView): boolean =>
  name === LEGACY_ALIAS || name.startsWith(VIRTUAL_PREFIX) || aliasedSlot(name, view) !== undefined;

/** Returns every name that a caller may use now: model ids, slot names, the legacy alias, virtual names. */
export function knownNames(view: RoutingView): string[] {
  const names = new Set<string>();
  for (const slot of view.slots) {
    if (slot.model !== null) names.add(slot.model);
    names.add(slot.name);
    names.add(`${VIRTUAL_PREFIX}${slot.name}`);
  }
  for (const model of view.models) names.add(model.id);
  for (const upstream of view.upstreams) for (const { id } of upstream.models) names.add(id);
  for (const name of view.names.names()) names.add(name);
  if (names.has('agent')) names.add(LEGACY_ALIAS);
  return [...names];
}
