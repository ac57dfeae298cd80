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
  let preset = first.kind === 'preset' ? names.preset(name) : null;
  let { target } = first;
  while (!isSlotName(target, view)) {
    const next = names.entry(target);
    if (next === undefined) break;
    if (next.kind === 'preset') preset = names.preset(target);
    target = next.target;
  }
  return { kind: first.kind, name, target, preset };
}

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
    const end = configuredName(target, view)?.target ?? target;
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
