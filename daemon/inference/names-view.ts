import type { NameView, V1ModelRecord } from '../contract/models.ts';
import type { Preset } from '../settings/name-tables.ts';
import { findModel } from './catalogue.ts';
import { LOCAL_OWNER } from './catalogue-record.ts';
import { nameProblems, targetEnd } from './dispatch/resolve-name.ts';
import type { RoutingView } from './dispatch/routing-view.ts';
import type { ReportedModels } from './images/resolve-model.ts';

/** Returns the aliases and presets of config.toml, what serves them now, and why one has no effect. */
export function namesView(view: RoutingView, reported: ReportedModels): NameView[] {
  const { names } = view;
  const served = (target: string) => findModel(view, target, reported);
  const problems = new Map(
    nameProblems(view, (target) => served(target) !== undefined).map((each) => [keyOf(each), each.message]),
  );
  const rowOf = (name: string, kind: NameView['kind'], target: string): NameView => {
    const problem = problems.get(keyOf({ kind, name })) ?? null;
    const record = problem === null ? served(targetEnd(target, view)) : undefined;
    return {
      ...{ kind, name, target },
      ...servedBy(record),
      ...changesOf(kind === 'preset' ? names.preset(name) : null),
      problem,
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

/** A preset and an alias may have the same name: only the preset is used. */
const keyOf = ({ kind, name }: Pick<NameView, 'kind' | 'name'>): string => `${kind} ${name}`;

function servedBy(record: V1ModelRecord | undefined): Pick<NameView, 'model' | 'slot' | 'upstream'> {
  if (record === undefined) return { model: null, slot: null, upstream: null };
  const { id, owned_by, _svc } = record;
  const upstream = owned_by === LOCAL_OWNER ? null : owned_by;
  return { model: _svc.resolves_to ?? id, slot: _svc.slot, upstream };
}

function changesOf(preset: Preset | null): Pick<NameView, 'set' | 'default' | 'strip' | 'system'> {
  if (preset === null) return { set: [], default: [], strip: [], system: false };
  return {
    set: Object.keys(preset.set),
    default: Object.keys(preset.default),
    strip: [...preset.strip],
    system: preset.system !== '',
  };
}
