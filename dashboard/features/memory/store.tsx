import { useQuery } from '@tanstack/react-query';
import { NotebookPen, SearchX } from 'lucide-react';
import type { ReactElement } from 'react';
import type { MemoryRecord } from '../../../daemon/contract/system.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Explained } from '../../ui/explained.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Older } from '../../ui/older.tsx';
import { Badge } from '../../ui/state-badge.tsx';
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
    <Empty icon={NotebookPen} title="Nothing is remembered yet">
      <p>
        Here assistants keep what should outlast a conversation: preferences, facts, decisions. They add and
        search through <code>/api/memory</code>, and chats with omni tools search it by themselves. It stays
        on this machine.
      </p>
      <div>
        <Button look="main" onClick={props.onAdd}>
          Add the first one
        </Button>
      </div>
    </Empty>
  );
}

/** Everything that is remembered, newest first. */
export function AllMemories(props: StoreProps & { onAdd: () => void }): ReactElement {
  const memories = useMemories();
  return (
    <Loaded query={memories} what="memories" lines={6}>
      {({ pages }) => {
        const all = pages.flatMap((page) => page.memories);
        if (all.length === 0) return <Nothing onAdd={props.onAdd} />;
        return (
          <>
            <MemoryList memories={all} label="Memories" {...props} />
            {memories.hasNextPage ? (
              <Older busy={memories.isFetchingNextPage} onMore={() => void memories.fetchNextPage()} />
            ) : null}
          </>
        );
      }}
    </Loaded>
  );
}

/** What was found under some words, best first, and how it was looked for. */
export function FoundMemories(props: StoreProps & { q: string; onReset: () => void }): ReactElement {
  const found = useQuery(queries.found(props.q));
  return (
    <Loaded query={found} what="what was found" lines={6}>
      {({ mode, memories }) => (
        <>
          <p className={css.found} role="status" data-line="">
            <span>
              {memories.length === 0 ? 'Nothing' : memories.length} found under “{props.q}”
            </span>
            <Explained text={MODES[mode].text}>
              <Badge tone={mode === 'hybrid' ? 'ok' : 'idle'}>{MODES[mode].word}</Badge>
            </Explained>
          </p>
          {memories.length === 0 ? (
            <Empty icon={SearchX} title="No memory matches">
              <Button onClick={props.onReset}>Show all memories</Button>
            </Empty>
          ) : (
            <MemoryList memories={memories} label="Found memories" {...props} />
          )}
        </>
      )}
    </Loaded>
  );
}
