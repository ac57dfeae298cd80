import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { PLAYGROUND_TABS } from '../../app/views.ts';
import { useCurrentInView } from '../../ui/current-in-view.ts';
import tabs from '../../ui/tabs.module.css';
import css from './mode-bar.module.css';

/** Links to the modes, in one line that scrolls sideways on a phone. */
export function ModeBar(props: { mode: string }): ReactElement {
  const list = useCurrentInView(props.mode);
  return (
    <header className={css.bar}>
      <h1 className={css.title}>Playground</h1>
      <nav ref={list} className={`${tabs.list} ${tabs.line} ${css.list}`} aria-label="Playground">
        {PLAYGROUND_TABS.map((tab) => (
          <Link
            key={tab.id}
            className={tabs.tab}
            href={`/playground/${tab.id}`}
            aria-current={tab.id === props.mode ? 'page' : undefined}
          >
            {tab.word}
          </Link>
        ))}
      </nav>
    </header>
  );
}
