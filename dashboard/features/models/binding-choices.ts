import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';

/** One choice of who answers to a model; the empty value leaves it to the gateway. */
export interface BindingChoice {
  readonly value: string;
  readonly word: string;
}

/** The choices of who may answer: any slot that serves it, any upstream, and what was chosen even if it is gone. */
export function choicesOf(
  model: Pick<ModelWithMemory, 'id' | 'binding' | 'binding_chosen'>,
  slots: readonly Pick<SlotRecord, 'name' | 'model'>[],
  upstreams: readonly string[],
): BindingChoice[] {
  const chosen = model.binding_chosen ? model.binding : null;
  const own = chosen === null && model.binding !== null ? ` (${model.binding.replace(':', ' ')})` : '';
  const rows = [
    { value: '', word: `The gateway chooses${own}` },
    ...slots
      .filter((slot) => slot.model === model.id)
      .map(({ name }) => ({ value: `slot:${name}`, word: `Slot ${name}` })),
    ...upstreams.map((name) => ({ value: `upstream:${name}`, word: `Upstream ${name}` })),
  ];
  if (chosen === null || rows.some(({ value }) => value === chosen)) return rows;
  return [...rows, { value: chosen, word: `${chosen} (does not serve it now)` }];
}
