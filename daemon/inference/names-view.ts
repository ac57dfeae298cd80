import type { NameView } from '../contract/models.ts';
import type { Preset } from '../settings/name-tables.ts';
import { findModel } from './catalogue.ts';
import { LOCAL_OWNER } from './catalogue-record.ts';
import { configuredName, nameProblems } from './dispatch/resolve-name.ts';
import type { RoutingView } from './dispatch/routing-view.ts';
import type { ReportedModels } from './images/resolve-model.ts';

/** Returns the aliases and presets of config.toml, what serves them now, and why one has no effect. */
export function namesView(view: RoutingView, reported: ReportedModels): NameView[] {
  const { names } = view;
  const served = (target: string) => findModel(view, target, reported);
  const problems = new Map(
    nameProblems(view, (target) => served(target) !== undefined).map((each) => [each.name, each]),
  );
  const rowOf = (name: string, kind: NameView['kind'], target: string): NameView => {
    const end = configuredName(name, view)?.target ?? configuredName(target, view)?.target ?? target;
    const record = problems.has(name) ? undefined : served(end);
    const { slot = null, resolves_to } = record?._svc ?? {};
    const isLocal = record === undefined || record.owned_by === LOCAL_OWNER;
    return {
      ...{ kind, name, target },
      model: record === undefined ? null : (resolves_to ?? record.id),
      slot,
      upstream: isLocal ? null : record.owned_by,
      ...changesOf(kind === 'preset' ? names.preset(name) : null),
      problem: problems.get(name)?.message ?? null,
    };
  };
  const usable = names.names().map((name) => {
    const { kind, target } = names.entry(name) as { kind: NameView['kind']; target: string };
    return rowOf(name, kind, target);
  });
  const patterns = names.patterns().map(([name, target]) => rowOf(name, 'alias', target));
  const unusable = names.problems.map(({ kind, name, target }) => rowOf(name, kind, target));
  return [...usable, ...patterns, ...unusable];
}

const changesOf = (preset: Preset | null) => ({
  set: Object.keys(preset?.set ?? {}),
  default: Object.keys(preset?.default ?? {}),
  strip: [...(preset?.strip ?? [])],
  system: (preset?.system ?? '') !== '',
});
