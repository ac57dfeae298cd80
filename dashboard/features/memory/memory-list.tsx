import type { ReactElement } from 'react';
import type { MemoryRecord } from '../../../daemon/contract/system.ts';
import { Button } from '../../ui/button.tsx';
import { Ago } from '../../ui/relative-time.tsx';
import css from './memory.module.css';

export interface Selection {
  readonly chosen: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
}

const MAX_NAME_LENGTH = 60;
const nameOf = ({ text }: MemoryRecord): string =>
  text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH).trimEnd()}…` : text;

function Item(props: {
  memory: MemoryRecord;
  selection: Selection;
  onDelete: (memory: MemoryRecord) => void;
}): ReactElement {
  const { memory, selection } = props;
  return (
    <li className={css.item}>
      <input
        type="checkbox"
        aria-label={`Select: ${nameOf(memory)}`}
        checked={selection.chosen.has(memory.id)}
        onChange={() => selection.toggle(memory.id)}
      />
      <div className={css.memory}>
        <p className={css.text}>{memory.text}</p>
        <p className={css.facts}>
          <Ago at={Date.parse(memory.created_at)} />
          {memory.tags.map((tag) => (
            <span key={tag} className={css.tag}>
              {tag}
            </span>
          ))}
        </p>
      </div>
      <Button variant="quiet" onClick={() => props.onDelete(memory)}>
        Delete…<span className="hidden-visually"> {nameOf(memory)}</span>
      </Button>
    </li>
  );
}

/** A list of notes in the given order. */
export function MemoryList(props: {
  memories: readonly MemoryRecord[];
  label: string;
  selection: Selection;
  onDelete: (memory: MemoryRecord) => void;
}): ReactElement {
  return (
    <ul aria-label={props.label}>
      {props.memories.map((memory) => (
        <Item key={memory.id} memory={memory} selection={props.selection} onDelete={props.onDelete} />
      ))}
    </ul>
  );
}
