import { useQuery } from '@tanstack/react-query';
import { NotebookPen, SearchX } from 'lucide-react';
import type { ReactElement } from 'react';
import type { MemoryRecord } from '../../../daemon/contract/system.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Older } from '../../ui/load-older.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Badge } from '../../ui/state-badge.tsx';
import { Explained } from '../../ui/tooltip-label.tsx';
import css from './memory.module.css';
import { MemoryList, type Selection } from './memory-list.tsx';
import { MODES } from './memory-words.ts';
import { useMemories } from './use-memories.ts';

interface StoreProps {
  selection: Selection;
  onDelete: (memory: MemoryRecord) => void;
}

function Nothing(props: { onAdd: () => void }): ReactElement {
  return (
    <Empty icon={NotebookPen} title="No notes yet">
      <p>
        Facts that assistants keep between conversations: preferences, dates, decisions. Assistants use{' '}
        <code>/api/memory</code>; chats with built-in tools search the notes automatically. Notes stay on this
        machine.
      </p>
      <div>
        <Button variant="main" onClick={props.onAdd}>
          Add first note
        </Button>
      </div>
    </Empty>
  );
}

/** All notes, newest first. */
export function AllMemories(props: StoreProps & { onAdd: () => void }): ReactElement {
  const memories = useMemories();
  return (
    <Loaded query={memories} what="notes" lines={6}>
      {({ pages }) => {
        const all = pages.flatMap((page) => page.memories);
        if (all.length === 0) return <Nothing onAdd={props.onAdd} />;
        return (
          <>
            <MemoryList memories={all} label="Notes" {...props} />
            {memories.hasNextPage ? (
              <Older busy={memories.isFetchingNextPage} onMore={() => void memories.fetchNextPage()} />
            ) : null}
          </>
        );
      }}
    </Loaded>
  );
}

/** Search results, best first, with the search mode. */
export function FoundMemories(props: StoreProps & { q: string; onReset: () => void }): ReactElement {
  const found = useQuery(queries.found(props.q));
  return (
    <Loaded query={found} what="search results" lines={6}>
      {({ mode, memories }) => (
        <>
          <p className={css.found} role="status" data-line="">
            <span>
              {memories.length === 0 ? 'No results' : `${memories.length} found`} for “{props.q}”
            </span>
            <Explained text={MODES[mode].text}>
              <Badge tone={mode === 'hybrid' ? 'ok' : 'idle'}>{MODES[mode].word}</Badge>
            </Explained>
          </p>
          {memories.length === 0 ? (
            <Empty icon={SearchX} title="No notes match">
              <Button onClick={props.onReset}>Show all notes</Button>
            </Empty>
          ) : (
            <MemoryList memories={memories} label="Found notes" {...props} />
          )}
        </>
      )}
    </Loaded>
  );
}
