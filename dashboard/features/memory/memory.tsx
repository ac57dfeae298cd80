import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import type { MemoryRecord } from '../../../daemon/contract/system.ts';
import { queries } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useTitle } from '../../app/title.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { count } from '../../ui/format.ts';
import { SearchForm } from '../../ui/search-form.tsx';
import { ViewHead } from '../../ui/view-head.tsx';
import { AddMemory } from './add-memory.tsx';
import { DeleteAll, DeleteMany, DeleteOne } from './delete-memories.tsx';
import css from './memory.module.css';
import type { Selection } from './memory-list.tsx';
import { classSentence } from './memory-words.ts';
import { usePlace } from './place.ts';
import { AllMemories, FoundMemories } from './store.tsx';
import { useMemories } from './use-memories.ts';

/** Which memories are chosen; it is forgotten when the list becomes another one. */
function useSelection(): Selection & { clear: () => void } {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  return {
    chosen,
    clear: () => setChosen(new Set()),
    toggle: (id) =>
      setChosen((was) => {
        const next = new Set(was);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
  };
}

/** Who may read and add, with the way to change it. */
function WhoMay(): ReactElement | null {
  const settings = useQuery(queries.settings);
  const { status } = useSession();
  const sentence = classSentence(settings.data?.settings, status?.auth_required);
  if (sentence === null) return null;
  return (
    <p className={css.soft}>
      {sentence} Setting <Link href="/settings?q=memory_class">[security].memory_class</Link> says so.
    </p>
  );
}

/** What assistants remember, and the means to correct it. */
export function Memory(): ReactElement {
  useTitle('Memory');
  const { q, show, find, open, close } = usePlace();
  const selection = useSelection();
  const [one, setOne] = useState<MemoryRecord | null>(null);
  const many = selection.chosen.size;
  const some = useMemories().data?.pages.some(({ memories }) => memories.length > 0) === true;
  const look = (words: string): void => {
    selection.clear();
    find(words);
  };
  const done = (): void => {
    selection.clear();
    setOne(null);
    close();
  };
  return (
    <>
      <ViewHead title="Memory">
        <Button onClick={() => open('add')}>
          <Plus size={16} aria-hidden="true" /> Add…
        </Button>
        {some ? (
          <Button look="danger" onClick={() => open('all')}>
            Delete all…
          </Button>
        ) : null}
      </ViewHead>
      <WhoMay />
      <Card title="The store" flush aside={many === 0 ? undefined : `${count(many)} chosen`}>
        <SearchForm
          label="Search the memories"
          placeholder="Words to look for…"
          most={4096}
          className={css.search}
          q={q}
          onFind={look}
          onEmpty={() => look('')}
        />
        {many === 0 ? null : (
          <div className={css.chosen}>
            <Button look="danger" onClick={() => open('delete')}>
              Delete {count(many)}…
            </Button>
            <Button look="quiet" onClick={selection.clear}>
              Choose none
            </Button>
          </div>
        )}
        {q === '' ? (
          <AllMemories selection={selection} onDelete={setOne} onAdd={() => open('add')} />
        ) : (
          <FoundMemories q={q} selection={selection} onDelete={setOne} onReset={() => look('')} />
        )}
      </Card>
      {show === 'add' ? <AddMemory onClose={close} /> : null}
      {show === 'all' ? <DeleteAll onClose={close} onDone={done} /> : null}
      {show === 'delete' && many > 0 ? (
        <DeleteMany ids={[...selection.chosen]} onClose={close} onDone={done} />
      ) : null}
      {one === null ? null : <DeleteOne memory={one} onClose={() => setOne(null)} onDone={done} />}
    </>
  );
}
