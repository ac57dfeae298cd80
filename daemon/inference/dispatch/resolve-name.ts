import type { Preset } from '../../settings/name-tables.ts';
import type { ConfiguredName, NameEntry, NameProblem } from './configured-names.ts';
import type { ModelRef } from './model-ref.ts';
import { aliasedSlot, VIRTUAL_PREFIX } from './names.ts';
import { modelNamed, type RoutingView } from './routing-view.ts';

/** Whether a name always means a slot of this gateway, whatever config.toml says. */
const isSlotName = (name: string, view: RoutingView): boolean =>
  name.startsWith(VIRTUAL_PREFIX) || aliasedSlot(name, view) !== undefined;

/** Whether a slot, a model or a cached list of an upstream has this id. Patterns do not apply to such a name. */
const isTaken = (name: string, view: RoutingView): boolean =>
  view.slots.some(({ model }) => model === name) ||
  modelNamed(view, name) !== undefined ||
  view.upstreams.some(({ models }) => models.some(({ id }) => id === name));

/**
 * Returns what a name means by config.toml; null when it is not configured, or means a slot. Follows aliases of
 * aliases. A pattern is applied once, to the name of the caller. Pure.
 */
export function configuredName(name: string, view: RoutingView): ConfiguredName | null {
  const { names } = view;
  if (names.isEmpty || isSlotName(name, view)) return null;
  const exact = names.entry(name);
  const pattern = exact === undefined && !isTaken(name, view) ? names.matching(name) : undefined;
  const first: NameEntry | undefined = pattern === undefined ? exact : { kind: 'alias', target: pattern };
  if (first === undefined) return null;
  const preset = first.kind === 'preset' ? names.preset(name) : null;
  return { kind: first.kind, name, ...follow(first.target, preset, view) };
}

/** Follows exact names from a target to its end. `preset`: that of the name before. Patterns apply to names of callers only. */
function follow(
  target: string,
  preset: Preset | null,
  view: RoutingView,
): Pick<ConfiguredName, 'target' | 'preset'> {
  const next = isSlotName(target, view) ? undefined : view.names.entry(target);
  if (next === undefined) return { target, preset };
  return follow(next.target, next.kind === 'preset' ? view.names.preset(target) : preset, view);
}

/** Returns the name of a slot or model that a target of config.toml leads to by exact names. Pure. */
export const targetEnd = (target: string, view: RoutingView): string => follow(target, null, view).target;

/** Replaces a configured name by what it means. Slot names of the target are resolved by the next rules. */
export function resolveConfiguredName(address: ModelRef, view: RoutingView): ModelRef {
  if (view.names.isEmpty || address.by !== null || address.model === null) return address;
  const found = configuredName(address.model, view);
  return found === null ? address : { ...address, model: found.target, alias: found };
}

/**
 * Returns what is wrong with the configured names now: entries without effect, and targets that nothing serves.
 */
export function nameProblems(view: RoutingView, isServed: (target: string) => boolean): NameProblem[] {
  const { names } = view;
  const leadsNowhere = (kind: NameProblem['kind'], name: string, target: string): NameProblem[] => {
    const end = targetEnd(target, view);
    const message = `leads to "${end}", which no slot or upstream serves now`;
    return isServed(end) ? [] : [{ kind, name, target, message }];
  };
  const exact = names.names().flatMap((name): NameProblem[] => {
    const { kind, target } = names.entry(name) as NameEntry;
    const message = `has no effect: ${name} is the name of a slot`;
    return isSlotName(name, view) ? [{ kind, name, target, message }] : leadsNowhere(kind, name, target);
  });
  const patterns = names.patterns().flatMap(([name, target]) => leadsNowhere('alias', name, target));
  return [...names.problems, ...exact, ...patterns];
}
