import type { SlotView } from '../../slots/slot-view.ts';
import { modelNamed, type RoutingView, slotNamed } from './routing-view.ts';

/**
 * Legacy alias (docs/spec/specification.md#legacy-alias); it means `agent` unless a slot of that name exists.
 */
export const LEGACY_ALIAS = 'agent-hermes';

/** Virtual names with a chain of their own; every other `svc/<slot>` is that slot alone. */
export const VIRTUAL_CHAINS: Readonly<Record<string, readonly string[]>> = {
  'svc/agent': ['agent'],
  'svc/utility': ['utility', 'agent'],
  'svc/npu': ['npu', 'utility', 'agent'],
};
export const VIRTUAL_PREFIX = 'svc/';

/**
 * Slot names with a fixed meaning (docs/spec/specification.md#slot-names). Callers rely on them, so they
 * always mean the slot, whatever the ids of models are.
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
 * The slot that a name means as an alias: the one of this name, or `agent` for the legacy alias. None where a registered
 * model has this very id and the slot holds another one: who names a model is never answered by another. `svc/NAME`
 * means that slot all the same.
 */
export function aliasedSlot(name: string, view: RoutingView): SlotView | undefined {
  const slot = slotNamed(view, name);
  if (slot === undefined) return name === LEGACY_ALIAS ? slotNamed(view, 'agent') : undefined;
  if (slot.model === name || SPECIFIED_SLOTS.has(name)) return slot;
  return modelNamed(view, name) === undefined ? slot : undefined;
}

/** Whether a name means a slot of this gateway: that of a slot, the legacy alias, a virtual name. */
export const meansSlot = (name: string, view: RoutingView): boolean =>
  name === LEGACY_ALIAS || name.startsWith(VIRTUAL_PREFIX) || aliasedSlot(name, view) !== undefined;

/** Every name that a caller may ask for now: model ids, slot names, the legacy alias, virtual names. */
export function knownNames(view: RoutingView): string[] {
  const names = new Set<string>();
  for (const slot of view.slots) {
    if (slot.model !== null) names.add(slot.model);
    names.add(slot.name);
    names.add(`${VIRTUAL_PREFIX}${slot.name}`);
  }
  for (const model of view.models) names.add(model.id);
  for (const upstream of view.upstreams) for (const { id } of upstream.models) names.add(id);
  if (names.has('agent')) names.add(LEGACY_ALIAS);
  return [...names];
}
