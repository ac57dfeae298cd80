import type { ReactElement } from 'react';
import type { ModelFitView } from '../../../daemon/contract/catalog.ts';
import { speedText } from '../../../daemon/contract/speed-text.ts';
import { Badge } from '../../ui/state-badge.tsx';
import { Explained } from '../../ui/tooltip-label.tsx';
import css from './fit-badge.module.css';
import { fitLabel } from './fit-label.ts';

/** Whether a model can be loaded now, with the reason in a tooltip, and how fast it would be. */
export function FitBadge(props: { fit: ModelFitView }): ReactElement {
  const { tone, word, text } = fitLabel(props.fit);
  const { speed } = props.fit;
  return (
    <>
      <Explained text={text}>
        <Badge tone={tone}>{word}</Badge>
      </Explained>
      {speed === undefined || props.fit.badge === 'does_not_fit' ? null : (
        <span className={css.speed}>{speedText(speed)}</span>
      )}
    </>
  );
}
