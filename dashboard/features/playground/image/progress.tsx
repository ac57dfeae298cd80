import { Progress as Bar } from '@base-ui/react/progress';
import type { ReactElement } from 'react';
import type { Drawing } from '../../../api/drawings.ts';
import css from './image.module.css';

const WORDS = {
  queued: 'Waits in the line of the engine',
  drawing: 'Draws',
  done: 'Is handed over',
  failed: 'Failed',
} as const;

/** How far the picture is; without a number where the engine tells none. */
export function DrawingProgress(props: { drawing: Drawing | null }): ReactElement {
  const { drawing } = props;
  const value = drawing?.progress == null ? null : Math.round(drawing.progress * 100);
  const word = drawing === null ? 'Asked' : WORDS[drawing.state];
  return (
    <Bar.Root className={css.progress} value={value} aria-label="Progress of the picture">
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
