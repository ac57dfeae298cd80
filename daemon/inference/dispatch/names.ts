import { type Picture, slotNamed } from './picture.ts';

/** Legacy alias of the spec; it means `agent` unless a slot of that name exists. */
export const LEGACY_ALIAS = 'agent-hermes';

/** Virtual names with a chain of their own; every other `svc/<slot>` is that slot alone. */
export const VIRTUAL_CHAINS: Readonly<Record<string, readonly string[]>> = {
  'svc/agent': ['agent'],
  'svc/utility': ['utility', 'agent'],
  'svc/npu': ['npu', 'utility', 'agent'],
};
export const VIRTUAL_PREFIX = 'svc/';

/** Whether a name means a slot of this gateway: that of a slot, the legacy alias, a virtual name. */
export const meansSlot = (name: string, picture: Picture): boolean =>
  name === LEGACY_ALIAS || name.startsWith(VIRTUAL_PREFIX) || slotNamed(picture, name) !== undefined;

/** Every name that a caller may ask for now: model ids, slot names, the legacy alias, virtual names. */
export function knownNames(picture: Picture): string[] {
  const names = new Set<string>();
  for (const slot of picture.slots) {
    if (slot.model !== null) names.add(slot.model);
    names.add(slot.name);
    names.add(`${VIRTUAL_PREFIX}${slot.name}`);
  }
  for (const model of picture.models) names.add(model.id);
  for (const upstream of picture.upstreams) for (const { id } of upstream.models) names.add(id);
  if (names.has('agent')) names.add(LEGACY_ALIAS);
  return [...names];
}
