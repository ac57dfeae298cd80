import type { ReactElement } from 'react';
import type { ExplainView } from '../../../daemon/contract/system.ts';
import { StateShape } from '../../ui/state-badge.tsx';
import type { Tone } from '../../ui/tone.ts';
import css from './requests.module.css';

type Step = ExplainView['steps'][number];

const STEPS: Readonly<Record<string, string>> = {
  'loaded-slot': 'Loaded slots',
  registry: 'Installed models',
  'upstream-cached': 'Upstreams (cached list)',
  'upstream-live': 'Upstreams (refreshed)',
  'capability-path': 'Default for this endpoint',
};
const WORDS: Record<Step['outcome'], string> = { matched: 'Matched', skipped: 'Skipped', failed: 'No match' };

/** Tone of a step. A failed step is a warning only when no step matched. */
export function stepTone(outcome: Step['outcome'], placed: boolean): Tone {
  if (outcome === 'matched') return 'ok';
  return outcome === 'failed' && !placed ? 'attention' : 'idle';
}

/** Label of a step. */
export const stepWord = (step: string): string => STEPS[step] ?? step;

/** The routing steps in order, with outcome and reason. */
export function RoutingSteps(props: {
  steps: readonly Step[];
  /** Whether a step matched. */
  placed: boolean;
}): ReactElement {
  return (
    <ol className={css.ladder} aria-label="Routing steps">
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
