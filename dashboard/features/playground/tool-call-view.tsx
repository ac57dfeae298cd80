import { Wrench } from 'lucide-react';
import type { ReactElement } from 'react';
import { duration } from '../../ui/format.ts';
import { State } from '../../ui/state-badge.tsx';
import css from './tool-call-view.module.css';
import { readable, type ToolCall } from './tool-calls.ts';

function Outcome(props: { call: ToolCall }): ReactElement {
  const { result } = props.call;
  if (result === null) return <State tone="idle">called</State>;
  const took = result.ms === null ? '' : ` in ${duration(result.ms)}`;
  return <State tone={result.ok ? 'ok' : 'failed'}>{result.ok ? `done${took}` : `failed${took}`}</State>;
}

/** The tools that an answer called, folded, with what they were given and what came back. */
export function ToolCalls(props: { calls: readonly ToolCall[] }): ReactElement | null {
  if (props.calls.length === 0) return null;
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
            <p className={css.label}>Given</p>
            <pre className={css.text}>{readable(call.arguments)}</pre>
            {call.result === null ? null : (
              <>
                <p className={css.label}>Came back</p>
                <pre className={css.text}>{readable(call.result.content)}</pre>
              </>
            )}
          </details>
        </li>
      ))}
    </ul>
  );
}
