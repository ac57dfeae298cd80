import { Field } from '@base-ui/react/field';
import { NumberField } from '@base-ui/react/number-field';
import { Minus, Plus } from 'lucide-react';
import type { ReactElement } from 'react';
import { Button } from '../../ui/button.tsx';
import { CheckBox } from '../../ui/check-box.tsx';
import field from '../../ui/field.module.css';
import { FRESH, type Parameters } from './conversation.ts';
import css from './parameter-fields.module.css';
import { conversation, useConversation } from './store.ts';
import { toolsOf } from './tool-calls.ts';

interface NumberRow {
  name: 'temperature' | 'topP' | 'maxTokens';
  label: string;
  help: string;
  min: number;
  max: number;
  step: number;
}

const NUMBERS: readonly NumberRow[] = [
  {
    name: 'temperature',
    label: 'Temperature',
    help: '0 = deterministic.',
    min: 0,
    max: 2,
    step: 0.1,
  },
  { name: 'topP', label: 'Top P', help: 'Nucleus sampling.', min: 0, max: 1, step: 0.05 },
  {
    name: 'maxTokens',
    label: 'Max tokens',
    help: 'Maximum answer length.',
    min: 1,
    max: 1_000_000,
    step: 64,
  },
];

function NumberRowField(props: { row: NumberRow; value: number | null }): ReactElement {
  const { row, value } = props;
  const id = `parameter-${row.name}`;
  return (
    <NumberField.Root
      id={id}
      className={field.field}
      min={row.min}
      max={row.max}
      step={row.step}
      value={value}
      onValueChange={(next) => conversation.setParameters({ [row.name]: next })}
    >
      <label className={field.label} htmlFor={id}>
        {row.label}
      </label>
      <NumberField.Group className={css.group}>
        <NumberField.Decrement className={css.step}>
          <Minus size={14} aria-hidden="true" />
        </NumberField.Decrement>
        <NumberField.Input
          className={`${field.input} ${css.number}`}
          placeholder="default"
          aria-describedby={`${id}-help`}
        />
        <NumberField.Increment className={css.step}>
          <Plus size={14} aria-hidden="true" />
        </NumberField.Increment>
      </NumberField.Group>
      <p id={`${id}-help`} className={field.help}>
        {row.help}
      </p>
    </NumberField.Root>
  );
}

function changed(parameters: Parameters): boolean {
  return JSON.stringify(parameters) !== JSON.stringify(FRESH.parameters);
}

/** Built-in tools, which the gateway runs, and your own tools, whose calls are only shown. */
function ToolFields(props: { parameters: Parameters }): ReactElement {
  const { tools, omni } = props.parameters;
  const { fault } = toolsOf(tools);
  return (
    <>
      <CheckBox on={omni} onChange={(on) => conversation.setParameters({ omni: on })}>
        Built-in tools <span className={field.help}> Images, speech, transcription and notes.</span>
      </CheckBox>
      <Field.Root className={field.field} invalid={fault !== null}>
        <Field.Label className={field.label}>Your tools</Field.Label>
        <Field.Control
          className={field.input}
          render={<textarea rows={3} spellCheck={false} />}
          placeholder='[{"type": "function", "function": {"name": "get_time"}}]'
          value={tools}
          onValueChange={(next) => conversation.setParameters({ tools: next })}
        />
        <Field.Description className={fault === null ? field.help : field.error}>
          {fault ?? 'A JSON list. Calls are shown but not executed.'}
        </Field.Description>
      </Field.Root>
    </>
  );
}

/** Request parameters; empty fields are not sent. */
export function ParameterFields(): ReactElement {
  const { parameters } = useConversation();
  return (
    <div className={css.fields}>
      <Field.Root className={field.field}>
        <Field.Label className={field.label}>System prompt</Field.Label>
        <Field.Control
          className={field.input}
          render={<textarea rows={5} />}
          placeholder="How the model should behave"
          value={parameters.system}
          onValueChange={(system) => conversation.setParameters({ system })}
        />
      </Field.Root>
      {NUMBERS.map((row) => (
        <NumberRowField key={row.name} row={row} value={parameters[row.name]} />
      ))}
      <ToolFields parameters={parameters} />
      <Button disabled={!changed(parameters)} onClick={() => conversation.setParameters(FRESH.parameters)}>
        Reset parameters
      </Button>
    </div>
  );
}
