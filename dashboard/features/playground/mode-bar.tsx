import { type ReactElement, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { PLAYGROUND_TABS } from '../../app/views.ts';
import tabs from '../../ui/tabs.module.css';
import css from './mode-bar.module.css';

/** What is tried: one link for each mode, in one line that scrolls sideways on a phone. */
export function ModeBar(props: { mode: string }): ReactElement {
  const list = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another mode is another link to show
  useEffect(() => {
    const current = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (!list.current || !current) return;
    list.current.scrollLeft = current.offsetLeft - (list.current.clientWidth - current.offsetWidth) / 2;
  }, [props.mode]);
  return (
    <header className={css.bar}>
      <h1 className={css.title}>Playground</h1>
      <nav ref={list} className={`${tabs.list} ${css.list}`} aria-label="Playground">
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
