import { type ReactElement, useId } from 'react';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import { Failure } from '../../ui/failure.tsx';
import field from '../../ui/field.module.css';
import { useModelAct } from './use-model-act.ts';

const CHOICES = [
  { value: 'own', word: 'As its own header says' },
  { value: 'on', word: 'It thinks' },
  { value: 'off', word: 'It does not think' },
] as const;

/** What its header says, where that is what counts. */
function ownWord(model: ModelWithMemory): string | null {
  if (model.thinking_chosen) return null;
  if (model.enable_thinking === null) return 'Its header has no such switch, or does not tell.';
  return model.enable_thinking ? 'By its header it thinks.' : 'By its header it does not think.';
}

/** Whether a model thinks when neither the request nor its slot says. */
export function Thinking(props: { model: ModelWithMemory }): ReactElement {
  const { model } = props;
  const id = useId();
  const put = useModelAct('model.put');
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
        When neither the request nor its slot says
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
