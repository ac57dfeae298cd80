import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { useCurrentInView } from './current-in-view.ts';
import tabs from './tabs.module.css';

/** The tabs of a view; the first one has the base URL of the view. */
export function ViewTabs(props: {
  base: string;
  label: string;
  tabs: readonly { id: string; word: string }[];
  current: string;
}): ReactElement {
  const list = useCurrentInView(props.current);
  return (
    <nav ref={list} className={`${tabs.list} ${tabs.line}`} aria-label={props.label}>
      {props.tabs.map((tab, at) => (
        <Link
          key={tab.id}
          className={tabs.tab}
          href={at === 0 ? props.base : `${props.base}/${tab.id}`}
          aria-current={tab.id === props.current ? 'page' : undefined}
        >
          {tab.word}
        </Link>
      ))}
    </nav>
  );
}
