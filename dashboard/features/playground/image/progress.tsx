import { Progress as Bar } from '@base-ui/react/progress';
import type { ReactElement } from 'react';
import type { Drawing } from '../../../api/drawings.ts';
import css from './image.module.css';

const WORDS = {
  queued: 'Queued',
  drawing: 'Generating',
  done: 'Sending',
  failed: 'Failed',
} as const;

/** Progress of an image request; indeterminate when the engine reports none. */
export function DrawingProgress(props: { drawing: Drawing | null }): ReactElement {
  const { drawing } = props;
  const value = drawing?.progress == null ? null : Math.round(drawing.progress * 100);
  const word = drawing === null ? 'Requested' : WORDS[drawing.state];
  return (
    <Bar.Root className={css.progress} value={value} aria-label="Image progress">
      <Bar.Track className={css.track}>
        <Bar.Indicator className={css.indicator} />
      </Bar.Track>
      <p className={css.step}>
        {word}
        {value === null ? '…' : `, ${value} %`}
      </p>
    </Bar.Root>
  );
}
