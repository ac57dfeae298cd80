import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useId } from 'react';
import { Link } from 'wouter';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { queries } from '../../api/queries.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import field from '../../ui/field.module.css';
import { choicesOf } from './binding-choices.ts';
import css from './models.module.css';
import { useModelAction } from './use-model-action.ts';

function Others(props: { model: ModelWithMemory; slots: readonly SlotRecord[] }): ReactElement | null {
  const { model } = props;
  const others = props.slots.filter(
    (slot) => slot.type === model.type && slot.model !== model.id && !slot.auto,
  );
  if (others.length === 0) return null;
  return (
    <div className={css.others}>
      <p className={css.soft}>To use it in another slot, swap the slot to this model:</p>
      <div className={css.acts}>
        {others.map(({ name }) => (
          <Link
            key={name}
            className={buttonClass()}
            href={`/slots?slot=${encodeURIComponent(name)}&show=swap&model=${encodeURIComponent(model.id)}`}
          >
            Use in slot {name}…
          </Link>
        ))}
      </div>
    </div>
  );
}

/** The slot or upstream that serves requests for this model. */
export function Binding(props: { model: ModelWithMemory; slots: readonly SlotRecord[] }): ReactElement {
  const { model, slots } = props;
  const id = useId();
  const upstreams = useQuery(queries.upstreams);
  const put = useModelAction('model.put');
  const choices = choicesOf(model, slots, upstreams.data?.upstreams.map(({ name }) => name) ?? []);
  return (
    <>
      <div className={field.field}>
        <label className={field.label} htmlFor={id}>
          Slot or upstream
        </label>
        <select
          id={id}
          className={field.input}
          value={(model.binding_chosen && model.binding) || ''}
          aria-busy={put.isPending}
          onChange={(event) =>
            put.mutate({
              params: { id: model.id },
              body: { binding: event.target.value === '' ? null : event.target.value },
            })
          }
        >
          {choices.map(({ value, word }) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </select>
      </div>
      {put.error === null ? null : <Failure error={put.error} />}
      <Others model={model} slots={slots} />
    </>
  );
}
