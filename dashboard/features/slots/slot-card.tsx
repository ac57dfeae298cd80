import { Menu } from '@base-ui/react/menu';
import { EllipsisVertical } from 'lucide-react';
import { type ReactElement, useEffect, useId, useRef } from 'react';
import { abandonedText } from '../../../daemon/contract/routing-texts.ts';
import { sharedEngineText } from '../../../daemon/contract/shared-engine.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { byteSize, count, tokenRate } from '../../ui/format.ts';
import menu from '../../ui/menu.module.css';
import { Facts } from '../../ui/property-list.tsx';
import { Ago } from '../../ui/relative-time.tsx';
import { ShareBar } from '../../ui/share-bar.tsx';
import { State } from '../../ui/state-badge.tsx';
import { listed } from '../shared/forecast.ts';
import { slotBadge, slotModel } from '../shared/slot-state.ts';
import { actionsOf, type SlotAction } from './actions.ts';
import { Trouble } from './slot-problem.tsx';
import css from './slots.module.css';
import type { Show } from './url-state.ts';

type Open = (show: Show, slot: string) => void;

function More(props: { slot: SlotRecord; acts: readonly SlotAction[]; open: Open }): ReactElement {
  /** The menu renders inside the card so that it belongs to its landmark. */
  const box = useRef<HTMLDivElement>(null);
  return (
    <div ref={box}>
      <Menu.Root>
        <Menu.Trigger
          className={buttonClass('quiet', true)}
          aria-label={`More actions for slot ${props.slot.name}`}
        >
          <EllipsisVertical size={16} aria-hidden="true" />
        </Menu.Trigger>
        <Menu.Portal container={box}>
          <Menu.Positioner className={menu.positioner} sideOffset={6} align="end">
            <Menu.Popup className={menu.popup}>
              {props.acts.map(({ show, word }) => (
                <Menu.Item key={show} className={menu.item} onClick={() => props.open(show, props.slot.name)}>
                  {word}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </div>
  );
}

function tags(slot: SlotRecord): string {
  return [
    slot.engine,
    slot.auto ? 'automatic' : null,
    slot.pinned ? 'pinned' : null,
    slot.demo ? 'demo' : null,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** One slot: its model, state and actions. */
export function SlotCard(props: {
  slot: SlotRecord;
  /** Whether a link led to this slot: it is then in view and focused. */
  isCurrent: boolean;
  open: Open;
}): ReactElement {
  const { slot, isCurrent, open } = props;
  const id = useId();
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isCurrent) card.current?.focus();
  }, [isCurrent]);
  const badge = slotBadge(slot);
  const acts = actionsOf(slot);
  const loaded = slot.context !== null;
  const abandoned = abandonedText(slot.abandoned);
  const shared = sharedEngineText(slot);
  return (
    <article ref={card} className={css.card} tabIndex={-1} aria-labelledby={id}>
      <header className={css.head}>
        <h3 id={id}>{slot.name}</h3>
        <span className={css.state}>
          <State tone={badge.tone}>{badge.word}</State>
          <span className={css.soft}>
            <Ago at={slot.since} />
          </span>
        </span>
      </header>
      <p className={css.model}>
        {slotModel({ ...slot, demo: false })}
        <span className={css.soft}>{tags(slot)}</span>
      </p>
      {slot.progress === undefined ? null : (
        <ShareBar label={`Load of slot ${slot.name}`} value={Math.round(slot.progress * 100)} />
      )}
      {slot.waiting_for.length === 0 ? null : (
        <p className={css.soft}>Waiting for {listed(slot.waiting_for)} to unload.</p>
      )}
      {abandoned === null ? null : <p className={css.soft}>{abandoned}</p>}
      {shared === null ? null : <p className={css.soft}>{shared}.</p>}
      <Trouble slot={slot} />
      <Facts
        wide
        rows={[
          ['Device', slot.device],
          ['Context', slot.context === null ? null : `${count(slot.context)} tokens`],
          ['Parallel requests', count(slot.parallel)],
          ['Active + queued', loaded ? `${slot.active} + ${slot.queued}` : null],
          ['Speed', slot.tokens_per_second === null ? null : tokenRate(slot.tokens_per_second)],
          ['Requests', count(slot.requests)],
          ['Memory used', slot.memory_bytes === null ? null : byteSize(slot.memory_bytes)],
          [
            'Memory reserved',
            slot.memory === null ? null : `${byteSize(slot.memory.needed_bytes)}, ${slot.memory.source}`,
          ],
        ]}
      />
      <footer className={css.acts}>
        {acts.card.map(({ show, word }) => (
          <Button key={show} onClick={() => open(show, slot.name)}>
            {word}
            <span className="hidden-visually"> of slot {slot.name}</span>
          </Button>
        ))}
        {acts.menu.length === 0 ? null : <More slot={slot} acts={acts.menu} open={open} />}
      </footer>
    </article>
  );
}
