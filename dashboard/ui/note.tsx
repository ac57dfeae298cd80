import { Info } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import css from './note.module.css';
import { StateShape } from './state-badge.tsx';
import type { Tone } from './tone.ts';

/** A remark on a coloured ground: the shape says how serious it is, the text says what to do. */
export function Note(props: { tone: Tone; children: ReactNode }): ReactElement {
  return (
    <div className={css.note} data-tone={props.tone}>
      {props.tone === 'idle' ? <Info size={16} aria-hidden="true" /> : <StateShape tone={props.tone} />}
      <div className={css.text}>{props.children}</div>
    </div>
  );
}
