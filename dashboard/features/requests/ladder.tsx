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
const WORDS: Record<Step['outcome'], string> = { matched: 'Matched', skipped: 'Skipped', failed: 'No match' };

/** A step that did not match is as it should be where another one did, and a reason where none did. */
export function stepTone(outcome: Step['outcome'], placed: boolean): Tone {
  if (outcome === 'matched') return 'ok';
  return outcome === 'failed' && !placed ? 'attention' : 'idle';
}

/** A step in plain words. */
export const stepWord = (step: string): string => STEPS[step] ?? step;

/** The steps of the resolution from top to bottom: what matched, what did not and why. */
export function Ladder(props: {
  steps: readonly Step[];
  /** Whether the request found its place. */
  placed: boolean;
}): ReactElement {
  return (
    <ol className={css.ladder} aria-label="Steps of the resolution">
      {props.steps.map((step) => (
        <li key={step.step} data-outcome={step.outcome}>
          <StateShape tone={stepTone(step.outcome, props.placed)} />
          <div>
            <p>
              <b>{stepWord(step.step)}</b> <span className={css.soft}>{WORDS[step.outcome]}</span>
            </p>
            <p className={css.soft}>{step.reason}</p>
          </div>
        </li>
      ))}
    </ol>
  );
}
