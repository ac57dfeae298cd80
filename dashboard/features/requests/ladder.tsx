import type { ReactElement } from 'react';
import type { ExplainView } from '../../../daemon/contract/system.ts';
import { StateShape } from '../../ui/state-badge.tsx';
import type { Tone } from '../../ui/tone.ts';
import css from './requests.module.css';

type Step = ExplainView['steps'][number];

const STEPS: Readonly<Record<string, string>> = {
  'loaded-slot': 'A loaded slot',
  registry: 'The registry of models',
  'upstream-cached': 'An upstream, by its known list',
  'upstream-live': 'An upstream, asked anew',
  'capability-path': 'By what the path needs',
};
const OUTCOMES: Record<Step['outcome'], { tone: Tone; word: string }> = {
  matched: { tone: 'ok', word: 'Matched' },
  skipped: { tone: 'idle', word: 'Skipped' },
  failed: { tone: 'attention', word: 'No match' },
};

/** A step in plain words. */
export const stepWord = (step: string): string => STEPS[step] ?? step;

/** The steps of the resolution from top to bottom: what matched, what did not and why. */
export function Ladder(props: { steps: readonly Step[] }): ReactElement {
  return (
    <ol className={css.ladder} aria-label="Steps of the resolution">
      {props.steps.map((step) => {
        const outcome = OUTCOMES[step.outcome];
        return (
          <li key={step.step} data-outcome={step.outcome}>
            <StateShape tone={outcome.tone} />
            <div>
              <p>
                <b>{stepWord(step.step)}</b> <span className={css.soft}>{outcome.word}</span>
              </p>
              <p className={css.soft}>{step.reason}</p>
            </div>
          </li>
        );
      })}
    </ol>
  );
}
