import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import css from './rail.module.css';
import { VIEWS } from './views.ts';

/** The menu of views: on the left, on narrow screens at the bottom. */
export function Rail(): ReactElement {
  const [path] = useLocation();
  return (
    <nav className={css.rail} aria-label="Views">
      <ul>
        {VIEWS.map((view) => (
          <li key={view.path}>
            <Link
              className={css.link}
              title={view.word}
              href={view.path}
              aria-current={path === view.path || path.startsWith(`${view.path}/`) ? 'page' : undefined}
            >
              <view.icon size={18} aria-hidden="true" />
              <span className={css.word}>{view.word}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
