import { Wrench } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { duration } from '../../ui/format.ts';
import { TextArea } from '../../ui/inputs.tsx';
import { State } from '../../ui/state-badge.tsx';
import css from './tool-call-view.module.css';
import { isOpen, readable, type ToolCall } from './tool-calls.ts';

function Outcome(props: { call: ToolCall }): ReactElement {
  const { result } = props.call;
  if (result === null) return <State tone="idle">called</State>;
  const took = result.ms === null ? '' : ` in ${duration(result.ms)}`;
  return <State tone={result.ok ? 'ok' : 'failed'}>{result.ok ? `done${took}` : `failed${took}`}</State>;
}

/** The form for the result of a tool call, which the user runs elsewhere. */
function ResultForm(props: { call: ToolCall; last: boolean; give: Give }): ReactElement {
  const [text, setText] = useState('');
  const { call, last, give } = props;
  return (
    <form
      className={css.result}
      onSubmit={(event) => {
        event.preventDefault();
        // The form disappears with its result: move the focus to the conversation.
        event.currentTarget.closest('section')?.focus();
        give(call.key, text);
      }}
    >
      <TextArea
        label={`Result of ${call.name}`}
        help={
          last
            ? 'Text or JSON. The model continues with it.'
            : 'The model continues once every call has a result.'
        }
        rows={2}
        value={text}
        onChange={setText}
      />
      <div>
        <Button type="submit" variant="main">
          {last ? 'Send result' : 'Save result'}
        </Button>
      </div>
    </form>
  );
}

type Give = (key: string, content: string) => void;

/**
 * The tool calls of an answer, collapsed, with arguments and results. With `give` the user can enter the missing results.
 */
export function ToolCalls(props: {
  calls: readonly ToolCall[];
  give: Give | undefined;
}): ReactElement | null {
  if (props.calls.length === 0) return null;
  const open = props.calls.filter(isOpen).length;
  return (
    <ul className={css.calls} aria-label="Tool calls">
      {props.calls.map((call) => (
        <li key={call.key}>
          <details className={css.call}>
            <summary>
              <Wrench size={14} aria-hidden="true" />
              <code>{call.name}</code>
              <Outcome call={call} />
            </summary>
            <p className={css.label}>Arguments</p>
            <pre className={css.text}>{readable(call.arguments)}</pre>
            {call.result === null ? null : (
              <>
                <p className={css.label}>Result</p>
                <pre className={css.text}>{readable(call.result.content)}</pre>
              </>
            )}
          </details>
          {props.give !== undefined && isOpen(call) ? (
            <ResultForm call={call} last={open === 1} give={props.give} />
          ) : null}
        </li>
      ))}
    </ul>
  );
}
