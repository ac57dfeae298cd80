import { Info } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import css from './note.module.css';
import { StateShape } from './state-badge.tsx';
import type { Tone } from './tone.ts';

/** A note on a coloured background; the icon shows its severity. */
export function Note(props: { tone: Tone; children: ReactNode }): ReactElement {
  return (
    <div className={css.note} data-tone={props.tone}>
      {props.tone === 'idle' ? <Info size={16} aria-hidden="true" /> : <StateShape tone={props.tone} />}
      <div className={css.text}>{props.children}</div>
    </div>
  );
}
