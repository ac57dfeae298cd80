import { type ReactElement, type ReactNode, useId } from 'react';
import type { SetupStepName, SetupStepStateName } from '../../../daemon/contract/setup.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { State } from '../../ui/state-badge.tsx';
import type { Tone } from '../../ui/tone.ts';
import css from './setup.module.css';
import { useApply } from './use-setup.ts';

interface Badge {
  tone: Tone;
  word: string;
}

const BADGES: Record<SetupStepStateName, Badge> = {
  open: { tone: 'idle', word: 'To do' },
  done: { tone: 'ok', word: 'Done' },
  skipped: { tone: 'idle', word: 'Skipped' },
};

/** One setup step: expanded while open, one line with a button to reopen it once done or skipped. */
export function Step(props: {
  id: SetupStepName;
  number: number;
  title: string;
  state: SetupStepStateName;
  /** Content that is shown also while the step is collapsed. */
  summary?: ReactNode;
  /** The state of the work that this step started. Replaces the badge of a step that is not skipped. */
  progress?: Badge | null;
  /** Hides the button: the state of this step is decided elsewhere. */
  fixed?: boolean;
  children: ReactNode;
}): ReactElement {
  const heading = useId();
  const apply = useApply();
  const go = (state: SetupStepStateName): void => apply.mutate({ steps: { [props.id]: state } });
  const badge = (props.state === 'skipped' ? null : props.progress) ?? BADGES[props.state];
  const open = props.state === 'open';
  const word = open ? 'Skip' : 'Reopen';
  return (
    <li className={css.step} data-state={props.state}>
      <section aria-labelledby={heading}>
        <header className={css.stepHead}>
          <span className={css.number} aria-hidden="true">
            {props.number}
          </span>
          <h2 id={heading}>{props.title}</h2>
          <span className={css.stepState}>
            <State tone={badge.tone}>{badge.word}</State>
            {props.fixed ? null : (
              <Button
                variant="quiet"
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
