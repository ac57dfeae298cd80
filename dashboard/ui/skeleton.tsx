import type { ReactElement } from 'react';
import css from './skeleton.module.css';

/** Placeholder lines while loading, announced to screen readers. */
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
