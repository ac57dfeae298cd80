import type { ReactElement } from 'react';
import type { ModelFitView } from '../../../daemon/contract/catalog.ts';
import { Explained } from '../../ui/explained.tsx';
import { Badge } from '../../ui/state-badge.tsx';
import { fitLook } from './fit-look.ts';

/** Whether a model can be loaded now, with the reason in a tooltip. */
export function FitBadge(props: { fit: ModelFitView }): ReactElement {
  const { tone, word, text } = fitLook(props.fit);
  return (
    <Explained text={text}>
      <Badge tone={tone}>{word}</Badge>
    </Explained>
  );
}
