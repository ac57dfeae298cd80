import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { type ReactElement, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { MemoryRecord } from '../../../daemon/contract/system.ts';
import { queries } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useTitle } from '../../app/title.ts';
import { Button } from '../../ui/button.tsx';
import card from '../../ui/card.module.css';
import { Card } from '../../ui/card.tsx';
import { count } from '../../ui/format.ts';
import { SearchForm } from '../../ui/search-form.tsx';
import { ViewHead } from '../../ui/view-head.tsx';
import { AddMemory } from './add-memory.tsx';
import { DeleteAll, DeleteMany, DeleteOne } from './delete-memories.tsx';
import css from './memory.module.css';
import type { Selection } from './memory-list.tsx';
import { classSentence } from './memory-words.ts';
import { chosenOf, noneChosen, toggled } from './selection.ts';
import { AllMemories, FoundMemories } from './store.tsx';
import { useUrlState } from './url-state.ts';
import { useMemories } from './use-memories.ts';

/** The notes that the list shows for a search. */
function useListed(q: string): readonly MemoryRecord[] {
  const all = useMemories().data?.pages.flatMap(({ memories }) => memories);
  const found = useQuery({ ...queries.found(q), enabled: q !== '' }).data?.memories;
  return (q === '' ? all : found) ?? [];
}

/** The selected notes. A new search clears the selection. */
function useSelection(q: string): Selection & { ids: readonly string[]; clear: () => void } {
  const listed = useListed(q);
  const [chosen, setChosen] = useState(noneChosen(q));
  if (chosen.q !== q) setChosen(noneChosen(q));
  const ids = chosenOf(chosen, listed);
  return {
    ids,
    chosen: new Set(ids),
    clear: () => setChosen(noneChosen(q)),
    toggle: (id) => setChosen((was) => toggled(was, id)),
  };
}

/** Who can read and add notes, with a link to the setting. */
function NotesAccess(): ReactElement | null {
  const settings = useQuery(queries.settings);
  const { status } = useSession();
  const sentence = classSentence(settings.data?.settings, status?.auth_required);
  if (sentence === null) return null;
  return (
    <p className={css.soft}>
      {sentence} Setting: <Link href="/settings?q=memory_class">memory_class</Link>.
    </p>
  );
}

/** The view of the notes that assistants keep. */
export function Memory(): ReactElement {
  useTitle('Notes');
  const { q, show, find, open, close } = useUrlState();
  const selection = useSelection(q);
  const [one, setOne] = useState<MemoryRecord | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const many = selection.ids.length;
  const some = useMemories().data?.pages.some(({ memories }) => memories.length > 0) === true;
  const removed = useRef(false);
  const done = (): void => {
    removed.current = true;
    selection.clear();
    setOne(null);
    close();
  };
  /** The focus target after a deletion, because the button that opened the dialog is gone. */
  const focusAfter = (): HTMLElement | null => {
    const hasRemoved = removed.current;
    removed.current = false;
    return hasRemoved ? list.current : null;
  };
  return (
    <>
      <ViewHead title="Notes">
        <Button onClick={() => open('add')}>
          <Plus size={16} aria-hidden="true" /> Add note…
        </Button>
        {some ? (
          <Button variant="danger" onClick={() => open('all')}>
            Delete all notes…
          </Button>
        ) : null}
      </ViewHead>
      <NotesAccess />
      <Card title="Saved notes" flush aside={many === 0 ? undefined : `${count(many)} selected`}>
        <SearchForm
          label="Search notes"
          placeholder="Search…"
          maxLength={4096}
          className={css.search}
          q={q}
          onFind={find}
          onEmpty={() => find('')}
        />
        {many === 0 ? null : (
          <div className={css.chosen}>
            <Button variant="danger" onClick={() => open('delete')}>
              Delete {count(many)}…
            </Button>
            <Button variant="quiet" onClick={selection.clear}>
              Clear selection
            </Button>
          </div>
        )}
        <div ref={list} tabIndex={-1} className={card.flush}>
          {q === '' ? (
            <AllMemories selection={selection} onDelete={setOne} onAdd={() => open('add')} />
          ) : (
            <FoundMemories q={q} selection={selection} onDelete={setOne} onReset={() => find('')} />
          )}
        </div>
      </Card>
      {show === 'add' ? <AddMemory onClose={close} /> : null}
      {show === 'all' ? <DeleteAll onClose={close} onDone={done} focusAfter={focusAfter} /> : null}
      {show === 'delete' && many > 0 ? (
        <DeleteMany ids={selection.ids} onClose={close} onDone={done} focusAfter={focusAfter} />
      ) : null}
      {one === null ? null : (
        <DeleteOne memory={one} onClose={() => setOne(null)} onDone={done} focusAfter={focusAfter} />
      )}
    </>
  );
}
