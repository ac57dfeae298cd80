import { Progress } from '@base-ui/react/progress';
import type { ReactElement } from 'react';
import css from './share-bar.module.css';
import type { Tone } from './tone.ts';

/** A progress bar with its percentage. */
export function ShareBar(props: {
  label: string;
  /** Percent. */
  value: number;
  tone?: Tone;
}): ReactElement {
  return (
    <Progress.Root className={css.bar} value={props.value} aria-label={props.label}>
      <Progress.Track className={css.track} data-tone={props.tone ?? 'busy'}>
        <Progress.Indicator className={css.indicator} />
      </Progress.Track>
      <Progress.Value className={css.value} />
    </Progress.Root>
  );
}
