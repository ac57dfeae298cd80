import type { ReactElement } from 'react';
import type { ModelFitView } from '../../../daemon/contract/catalog.ts';
import { Explained } from '../../ui/explained.tsx';
import { Badge } from '../../ui/state-badge.tsx';
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
