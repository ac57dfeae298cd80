import type { LucideIcon } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import css from './empty.module.css';

/** An empty state with its next step. */
export function Empty(props: { icon: LucideIcon; title: string; children: ReactNode }): ReactElement {
  return (
    <div className={css.empty}>
      <props.icon size={24} aria-hidden="true" />
      <p className={css.title}>{props.title}</p>
      <div className={css.text}>{props.children}</div>
    </div>
  );
}
