import { useQuery } from '@tanstack/react-query';
import { Boxes, Plus } from 'lucide-react';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { NotFound } from '../../app/not-found.tsx';
import { useTitle } from '../../app/title.ts';
import { SLOT_TABS } from '../../app/views.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { HelpLine } from '../../ui/help.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { ViewHead } from '../../ui/view-head.tsx';
import { ViewTabs } from '../../ui/view-tabs.tsx';
import { TERMS } from '../shared/terms.ts';
import { Upstreams } from '../upstreams/upstreams.tsx';
import { byType } from './groups.ts';
import { SavedConversations } from './saved-conversations.tsx';
import { SlotCard } from './slot-card.tsx';
import { SlotDialog } from './slot-dialog.tsx';
import css from './slots.module.css';
import { useUrlState } from './url-state.ts';

function All(): ReactElement {
  const slots = useQuery(queries.slots);
  const { place, current, open, close } = useUrlState();
  return (
    <>
      <Loaded query={slots} what="slots" lines={8}>
        {(data) =>
          data.slots.length === 0 ? (
            <Empty icon={Boxes} title="No slots yet">
              <p>A slot runs one model. Add a slot, or download a model.</p>
              <div>
                <Button variant="main" onClick={() => open('new')}>
                  <Plus size={16} aria-hidden="true" /> Add slot…
                </Button>
              </div>
            </Empty>
          ) : (
            byType(data.slots).map((group) => (
              <section key={group.type} className={css.group} aria-label={group.word}>
                <h2>{group.word}</h2>
                <div className={css.cards}>
                  {group.slots.map((slot) => (
                    <SlotCard
                      key={slot.name}
                      slot={slot}
                      isCurrent={place === null && slot.name === current}
                      open={open}
                    />
                  ))}
                </div>
              </section>
            ))
          )
        }
      </Loaded>
      <SavedConversations />
      {place === null ? null : <SlotDialog place={place} slots={slots.data?.slots} onClose={close} />}
    </>
  );
}

/** The view of slots and upstreams. */
export function Slots(props: { tab: string }): ReactElement {
  const tab = SLOT_TABS.find(({ id }) => id === props.tab);
  useTitle(tab?.word ?? 'Not found');
  const { open } = useUrlState();
  if (tab === undefined) return <NotFound />;
  return (
    <>
      <ViewHead title="Slots">
        {tab.id === 'all' ? (
          <Button onClick={() => open('new')}>
            <Plus size={16} aria-hidden="true" /> Add slot…
          </Button>
        ) : null}
      </ViewHead>
      <ViewTabs base="/slots" label="Slots" tabs={SLOT_TABS} current={tab.id} />
      <HelpLine term={tab.id === 'all' ? TERMS.slot : TERMS.upstream} />
      {tab.id === 'all' ? <All /> : <Upstreams />}
    </>
  );
}
