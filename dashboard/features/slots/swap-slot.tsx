import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useId, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { ModelRecordView } from '../../../daemon/contract/models.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { CheckBox } from '../../ui/check-box.tsx';
import dialog from '../../ui/dialog.module.css';
import { Failure } from '../../ui/failure.tsx';
import field from '../../ui/field.module.css';
import { byteSize } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { LoadForecast } from './load-forecast.tsx';
import type { SlotDialogProps } from './slot-dialog-props.ts';
import css from './slots.module.css';
import { useSlotAction } from './use-slot-action.ts';

function label(model: ModelRecordView): string {
  return [model.id, model.quantization, byteSize(model.size_bytes)].filter(Boolean).join(' · ');
}

function Choose(props: {
  models: readonly ModelRecordView[];
  chosen: string;
  onChoose: (id: string) => void;
}): ReactElement {
  const id = useId();
  return (
    <div className={field.field}>
      <label className={field.label} htmlFor={id}>
        Model
      </label>
      <select
        id={id}
        className={field.input}
        value={props.chosen}
        onChange={(event) => props.onChoose(event.target.value)}
      >
        <option value="">Choose a model…</option>
        {props.models.map((model) => (
          <option key={model.id} value={model.id}>
            {label(model)}
          </option>
        ))}
      </select>
    </div>
  );
}

function Persist(props: { name: string; on: boolean; onChange: (on: boolean) => void }): ReactElement {
  return (
    <CheckBox on={props.on} onChange={props.onChange}>
      Remember this choice{' '}
      <span className={css.soft}>
        {' '}
        (writes <code>slots/{props.name}.toml</code>). Otherwise it lasts until the next restart.
      </span>
    </CheckBox>
  );
}

/** Swaps the model of a slot; shows the memory sum of the new model first. */
export function SwapSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const registry = useQuery(queries.registry);
  const [search] = useSearchParams();
  const [chosen, setChosen] = useState(search.get('model') ?? '');
  const [persist, setPersist] = useState(true);
  const plan = useQuery({ ...queries.plan(slot.name, chosen), enabled: chosen !== '' });
  const swap = useSlotAction('slot.swap', onClose);
  const ready = chosen !== '' && plan.data !== undefined && plan.data.forecast.outcome !== 'refused';
  return (
    <Sheet title={`Swap model of slot ${slot.name}`} onClose={onClose}>
      <p>
        Current model: <b>{slot.model ?? 'none'}</b>. Running requests finish first. New requests wait until
        the model is loaded.
      </p>
      <Loaded query={registry} what="models" lines={1}>
        {(data) => {
          const models = data.models.filter(({ type, id }) => type === slot.type && id !== slot.model);
          if (models.length === 0) return <p>No other model of this type is installed.</p>;
          return <Choose models={models} chosen={chosen} onChoose={setChosen} />;
        }}
      </Loaded>
      {chosen === '' ? null : (
        <Loaded query={plan} what="the memory forecast" lines={5}>
          {(data) => <LoadForecast plan={data} />}
        </Loaded>
      )}
      <Persist name={slot.name} on={persist} onChange={setPersist} />
      {swap.error === null ? null : <Failure error={swap.error} />}
      <div className={dialog.actions}>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="main"
          disabled={!ready}
          busy={swap.isPending}
          onClick={() => swap.mutate({ name: slot.name, body: { model_id: chosen, persist } })}
        >
          Swap model
        </Button>
      </div>
    </Sheet>
  );
}
