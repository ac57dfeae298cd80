import { type ReactElement, useRef } from 'react';
import { snippetOf } from '../../../api/snippets.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Copy } from '../../../ui/copy.tsx';
import { TextArea, TextInput } from '../../../ui/inputs.tsx';
import { State } from '../../../ui/state-badge.tsx';
import type { Facts } from '../conversation.ts';
import { Fields, useFields } from '../parts/fields.ts';
import { Job, useJob } from '../parts/job.ts';
import { Measured } from '../parts/measurements.tsx';
import form from '../parts/mode-form.module.css';
import { ModeForm } from '../parts/mode-form.tsx';
import { ModePage } from '../parts/mode-page.tsx';
import { definedFields, numberFault, numberOf } from '../parts/numbers.ts';
import { useModels } from '../parts/use-models.ts';
import { runChat } from '../run-chat.ts';
import css from './completion.module.css';

interface Written {
  readonly prompt: string;
  readonly text: string;
  /** Null while text is still being received. */
  readonly facts: Facts | null;
}

const fields = new Fields('completion', {
  model: '',
  prompt: 'Once upon a time',
  maxTokens: '128',
  temperature: '',
});
const job = new Job<Written>();

function bodyOf(model: string, at: ReturnType<typeof fields.state.getState>): Record<string, unknown> {
  return {
    model,
    prompt: at.prompt,
    ...definedFields({ max_tokens: numberOf(at.maxTokens), temperature: numberOf(at.temperature) }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

function Answer(props: { written: Written; running: boolean }): ReactElement {
  const { written } = props;
  const shown = useRef<HTMLElement>(null);
  return (
    <Card title="Result" aside={<Copy text={written.text} shown={shown} what="the result" />}>
      <p className={css.text} aria-busy={props.running}>
        <span className={css.prompt}>{written.prompt}</span>
        <span ref={shown}>{written.text}</span>
      </p>
      {written.facts === null ? null : <Measured facts={written.facts} />}
      {written.text === '' || props.running ? null : (
        <div>
          <Button onClick={() => fields.set({ prompt: written.prompt + written.text })}>Continue</Button>
        </div>
      )}
    </Card>
  );
}

/** The completion mode: continues a text without a chat format. */
export function Completion(): ReactElement {
  const at = useFields(fields);
  const state = useJob(job);
  const models = useModels('chat', at.model);
  const body = bodyOf(models.id, at);
  const lacks =
    models.lacks ??
    (at.prompt === '' ? 'Enter a prompt.' : null) ??
    numberFault('Max tokens', at.maxTokens, 1, 1_000_000) ??
    numberFault('Temperature', at.temperature, 0, 2, false);
  const send = (): void =>
    void job.run(async (signal, report) => {
      let text = '';
      const { prompt } = at;
      report({ prompt, text, facts: null });
      const onPiece = (piece: { content: string }): void => {
        text += piece.content;
        report({ prompt, text, facts: null });
      };
      const facts = await runChat(body, signal, onPiece, 'v1.completions');
      return { prompt, text, facts };
    });
  return (
    <ModePage
      ability="chat"
      models={models}
      onModel={(model) => fields.set({ model })}
      about="Plain text completion, without a chat format."
      codeOf={(language, place) => snippetOf(language, { ...place, route: 'completion', body })}
    >
      <ModeForm job={job} state={state} verb="Complete text" lacks={lacks} onSend={send}>
        <TextArea label="Prompt" rows={6} value={at.prompt} onChange={(prompt) => fields.set({ prompt })} />
        <div className={form.row}>
          <TextInput
            label="Max tokens"
            numeric
            value={at.maxTokens}
            placeholder="default"
            onChange={(maxTokens) => fields.set({ maxTokens })}
          />
          <TextInput
            label="Temperature"
            numeric
            value={at.temperature}
            placeholder="default"
            onChange={(temperature) => fields.set({ temperature })}
          />
        </div>
      </ModeForm>
      {state.result === null ? null : <Answer written={state.result} running={state.phase === 'running'} />}
      {state.phase === 'failed' && state.result?.text ? (
        <State tone="attention">The text received before the failure is shown above.</State>
      ) : null}
    </ModePage>
  );
}
