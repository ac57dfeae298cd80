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
    const bar = list.current;
    if (bar === null) return;
    const show = (): void => {
      const current = bar.querySelector<HTMLElement>('[aria-current]');
      if (current) bar.scrollLeft = current.offsetLeft - (bar.clientWidth - current.offsetWidth) / 2;
    };
    const resized = new ResizeObserver(show);
    resized.observe(bar);
    return () => resized.disconnect();
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
