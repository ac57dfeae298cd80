import { type ReactElement, type ReactNode, useId } from 'react';
import type { SetupStepName, SetupStepStateName } from '../../../daemon/contract/setup.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { State } from '../../ui/state-badge.tsx';
import type { Tone } from '../../ui/tone.ts';
import css from './setup.module.css';
import { useApply } from './use-setup.ts';

const LOOKS: Record<SetupStepStateName, { tone: Tone; word: string }> = {
  open: { tone: 'idle', word: 'To do' },
  done: { tone: 'ok', word: 'Done' },
  skipped: { tone: 'idle', word: 'Skipped' },
};

const UNDER_WAY = { tone: 'busy', word: 'Under way' } as const;

/** One step: open in full, or one line once it is done or skipped, from where it can be opened again. */
export function Step(props: {
  id: SetupStepName;
  number: number;
  title: string;
  state: SetupStepStateName;
  /** What stands there although the step is closed. */
  summary?: ReactNode;
  /** What was begun here still goes on. */
  underWay?: boolean;
  /** Steps that somebody else decides cannot be opened again. */
  fixed?: boolean;
  children: ReactNode;
}): ReactElement {
  const heading = useId();
  const apply = useApply();
  const go = (state: SetupStepStateName): void => apply.mutate({ steps: { [props.id]: state } });
  const look = props.underWay && props.state === 'done' ? UNDER_WAY : LOOKS[props.state];
  const open = props.state === 'open';
  const word = open ? 'Skip' : 'Open again';
  return (
    <li className={css.step} data-state={props.state}>
      <section aria-labelledby={heading}>
        <header className={css.stepHead}>
          <span className={css.number} aria-hidden="true">
            {props.number}
          </span>
          <h2 id={heading}>{props.title}</h2>
          <span className={css.stepState}>
            <State tone={look.tone}>{look.word}</State>
            {props.fixed ? null : (
              <Button
                look="quiet"
                busy={apply.isPending}
                aria-label={`${word}: ${props.title}`}
                onClick={() => go(open ? 'skipped' : 'open')}
              >
                {word}
              </Button>
            )}
          </span>
        </header>
        {apply.isError ? <Failure error={apply.error} /> : null}
        {props.summary}
        {open ? <div className={css.stepBody}>{props.children}</div> : null}
      </section>
    </li>
  );
}
