import { Progress } from '@base-ui/react/progress';
import type { ReactElement } from 'react';
import css from './share-bar.module.css';
import type { Tone } from './tone.ts';

/** How much of something is done, as a bar and its number. */
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
