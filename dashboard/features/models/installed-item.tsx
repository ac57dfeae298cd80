import type { ReactElement } from 'react';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { Button } from '../../ui/button.tsx';
import { State } from '../../ui/state-badge.tsx';
import { slotBadge } from '../shared/slot-state.ts';
import { FitBadge } from './fit-badge.tsx';
import { holderOf } from './holder.ts';
import { modelLine } from './model-words.ts';
import css from './models.module.css';
import { UseIt } from './next-step.tsx';
import type { Show } from './url-state.ts';

/** The state of the slot that serves the model, else whether the model fits. */
function How(props: { model: ModelWithMemory; slot: SlotRecord | undefined }): ReactElement | null {
  const { model, slot } = props;
  const badge = slot === undefined ? null : slotBadge(slot);
  if (slot !== undefined && badge !== null && (badge.tone !== 'idle' || model.fit === null)) {
    return (
      <span className={css.state}>
        <State tone={badge.tone}>{badge.word}</State>
        <span className={css.soft}>in {slot.name}</span>
      </span>
    );
  }
  if (model.fit !== null) return <FitBadge fit={model.fit} />;
  return <State tone="idle">No slot</State>;
}

/** One installed model: its metadata, its state and its next action. */
export function InstalledItem(props: {
  model: ModelWithMemory;
  slots: readonly SlotRecord[];
  open: (show: Show, of: string) => void;
}): ReactElement {
  const { model, open } = props;
  const slot = holderOf(model, props.slots);
  return (
    <li className={css.item}>
      <div className={css.head}>
        <h3>
          {model.id}
          <span className={css.sub}>{modelLine(model)}</span>
        </h3>
        <How model={model} slot={slot} />
      </div>
      <div className={css.acts}>
        <UseIt model={model} slot={slot} onLoad={() => open('load', model.id)} />
        <Button onClick={() => open('details', model.id)}>
          Details<span className="hidden-visually"> of {model.id}</span>
        </Button>
      </div>
    </li>
  );
}
