import type { ReactElement } from 'react';
import css from './skeleton.module.css';

/** Grey lines where content will stand, told to screen readers as loading. */
export function Skeleton(props: { lines: number; what: string }): ReactElement {
  return (
    <div className={css.skeleton} role="status">
      <span className="hidden-visually">Loading {props.what}</span>
      {Array.from({ length: props.lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity
        <span key={line} className={css.line} />
      ))}
    </div>
  );
}
