import { type ReactElement, useId } from 'react';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import { Failure } from '../../ui/failure.tsx';
import field from '../../ui/field.module.css';
import { useModelAction } from './use-model-action.ts';

const CHOICES = [
  { value: 'own', word: 'Model default' },
  { value: 'on', word: 'On' },
  { value: 'off', word: 'Off' },
] as const;

/** The default from the model header; null when it is overridden. */
function ownWord(model: ModelWithMemory): string | null {
  if (model.thinking_chosen) return null;
  if (model.enable_thinking === null) return 'This model has no reasoning switch.';
  return model.enable_thinking ? 'The model default is on.' : 'The model default is off.';
}

/** The reasoning default of a model, for requests and slots that do not specify it. */
export function Thinking(props: { model: ModelWithMemory }): ReactElement {
  const { model } = props;
  const id = useId();
  const put = useModelAction('model.put');
  const value = !model.thinking_chosen ? 'own' : model.enable_thinking ? 'on' : 'off';
  const own = ownWord(model);
  const choose = (next: string): void =>
    put.mutate({
      params: { id: model.id },
      body: { enable_thinking: next === 'own' ? null : next === 'on' },
    });
  return (
    <div className={field.field}>
      <label className={field.label} htmlFor={id}>
        Default when not specified
      </label>
      <select
        id={id}
        className={field.input}
        value={value}
        aria-busy={put.isPending}
        aria-describedby={own === null ? undefined : `${id}-own`}
        onChange={(event) => choose(event.target.value)}
      >
        {CHOICES.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.word}
          </option>
        ))}
      </select>
      {own === null ? null : (
        <p id={`${id}-own`} className={field.help}>
          {own}
        </p>
      )}
      {put.error === null ? null : <Failure error={put.error} />}
    </div>
  );
}
