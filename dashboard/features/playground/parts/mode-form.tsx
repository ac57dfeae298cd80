import { Play, Square } from 'lucide-react';
import { type ReactElement, type ReactNode, useEffect } from 'react';
import { ApiError } from '../../../api/api-error.ts';
import { Button } from '../../../ui/button.tsx';
import { Failure } from '../../../ui/failure.tsx';
import { steadyDuration } from '../../../ui/format.ts';
import { useNow } from '../../../ui/now.ts';
import { State } from '../../../ui/state-badge.tsx';
import type { Job, JobState } from './job.ts';
import { isSomethingOpen } from './layers.ts';
import css from './mode-form.module.css';

/** Esc stops the running request, unless it closes an open dialog, list or menu. */
function useEscape(active: boolean, stop: () => void): void {
  useEffect(() => {
    if (!active) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented && !isSomethingOpen()) stop();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [active, stop]);
}

const PHASES = { idle: '', running: 'Running.', done: 'Done.', stopped: 'Stopped.', failed: '' } as const;

/** Elapsed time of the request; after three seconds it mentions that the model may be loading. */
function Waiting(props: { since: number }): ReactElement {
  const waited = useNow() - props.since;
  return (
    <State tone="busy">
      {waited > 3000 ? `Running for ${steadyDuration(waited)}; the model may be loading first` : 'Running…'}
    </State>
  );
}

/** The form of a mode: fields, submit button, status and failure. */
export function ModeForm<R>(props: {
  job: Job<R>;
  state: JobState<R>;
  /** Label of the submit button. */
  verb: string;
  /** Why the form cannot be sent; null when it can. */
  lacks: string | null;
  onSend: () => void;
  children: ReactNode;
}): ReactElement {
  const { job, state } = props;
  const running = state.phase === 'running';
  useEscape(running, () => job.stop());
  const send = (): void => {
    if (props.lacks === null && !running) props.onSend();
  };
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {props.children}
      <div className={css.foot}>
        {/* Separate keys: a shared element would submit again when a press on Stop ends on the submit button. */}
        {running ? (
          <Button key="stop" onClick={() => job.stop()}>
            <Square size={14} aria-hidden="true" /> Stop
          </Button>
        ) : (
          <Button key="send" type="submit" variant="main" disabled={props.lacks !== null}>
            <Play size={14} aria-hidden="true" /> {props.verb}
          </Button>
        )}
        {running ? <Waiting since={state.since} /> : <p className={css.note}>{props.lacks ?? ''}</p>}
        <p className={state.phase === 'stopped' ? css.note : 'hidden-visually'} role="status">
          {PHASES[state.phase]}
        </p>
      </div>
      {state.failure === null ? null : <Failure error={new ApiError(state.failure)} retry={send} />}
    </form>
  );
}
