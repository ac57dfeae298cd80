import type { NameView } from '../../../daemon/contract/models.ts';

/** Describes an alias or preset: what it stands for, what serves it, and what it changes. */
export function nameLine(view: NameView): string {
  const { kind, target, model, slot, upstream } = view;
  const where = slot === null ? (upstream === null ? null : `at ${upstream}`) : `in slot ${slot}`;
  const served =
    model === null ? null : model === target ? where : `${model}${where === null ? '' : ` ${where}`}`;
  const stands = `${kind === 'alias' ? 'Alias' : 'Preset'} of ${target}${served === null ? '' : ` (${served})`}`;
  return [stands, ...changeParts(view)].join(' · ');
}

function changeParts(view: NameView): string[] {
  const verbs = { set: 'sets', default: 'fills in', strip: 'removes' } as const;
  const fields = (['set', 'default', 'strip'] as const).flatMap((each) =>
    view[each].length === 0 ? [] : [`${verbs[each]} ${view[each].join(', ')}`],
  );
  return [...fields, ...(view.system ? ['adds a system text'] : [])];
}
