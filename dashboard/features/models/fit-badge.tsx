import type { ReactElement } from 'react';
import type { ModelFitView } from '../../../daemon/contract/catalog.ts';
import { Badge } from '../../ui/state-badge.tsx';
import { Explained } from '../../ui/tooltip-label.tsx';
import { fitLabel } from './fit-label.ts';

/** Whether a model can be loaded now, with the reason in a tooltip. */
export function FitBadge(props: { fit: ModelFitView }): ReactElement {
  const { tone, word, text } = fitLabel(props.fit);
  return (
    <Explained text={text}>
      <Badge tone={tone}>{word}</Badge>
    </Explained>
  );
}
