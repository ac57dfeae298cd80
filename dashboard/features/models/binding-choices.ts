import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';

/** One option for the slot or upstream of a model; the empty value means automatic. */
export interface BindingChoice {
  readonly value: string;
  readonly word: string;
}

/** Options: slots that serve the model, all upstreams, and the current choice even if it no longer serves the model. */
export function choicesOf(
  model: Pick<ModelWithMemory, 'id' | 'binding' | 'binding_chosen'>,
  slots: readonly Pick<SlotRecord, 'name' | 'model'>[],
  upstreams: readonly string[],
): BindingChoice[] {
  const chosen = model.binding_chosen ? model.binding : null;
  const own = chosen === null && model.binding !== null ? ` (${model.binding.replace(':', ' ')})` : '';
  const rows = [
    { value: '', word: `Automatic${own}` },
    ...slots
      .filter((slot) => slot.model === model.id)
      .map(({ name }) => ({ value: `slot:${name}`, word: `Slot ${name}` })),
    ...upstreams.map((name) => ({ value: `upstream:${name}`, word: `Upstream ${name}` })),
  ];
  if (chosen === null || rows.some(({ value }) => value === chosen)) return rows;
  return [...rows, { value: chosen, word: `${chosen} (no longer serves this model)` }];
}
