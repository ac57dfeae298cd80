import { Menu } from '@base-ui/react/menu';
import { Ellipsis } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { Link, useLocation } from 'wouter';
import menu from '../ui/menu.module.css';
import { useWide } from '../ui/use-min-width.ts';
import css from './rail.module.css';
import { VIEWS, type ViewLink } from './views.ts';

const isOpen = (view: ViewLink, path: string): boolean =>
  path === view.path || path.startsWith(`${view.path}/`);

function Item(props: { view: ViewLink; current: boolean }): ReactElement {
  const { view } = props;
  return (
    <li>
      <Link className={css.link} href={view.path} aria-current={props.current ? 'page' : undefined}>
        <view.icon size={18} aria-hidden="true" />
        <span className={css.word}>{view.word}</span>
      </Link>
    </li>
  );
}

/** The views that have no button in the bar of a phone. Shows the open one in place of its label. */
function More(props: { path: string }): ReactElement {
  const [, go] = useLocation();
  /** The menu renders inside the bar so that its content belongs to its landmark. */
  const [item, setItem] = useState<HTMLElement | null>(null);
  const views = VIEWS.filter(({ first }) => first !== true);
  const current = views.find((view) => isOpen(view, props.path));
  const Icon = current?.icon ?? Ellipsis;
  return (
    <li ref={setItem}>
      <Menu.Root>
        <Menu.Trigger
          className={css.link}
          aria-label={current === undefined ? 'More views' : `More views, ${current.word} is open`}
          aria-current={current === undefined ? undefined : 'page'}
        >
          <Icon size={18} aria-hidden="true" />
          <span className={css.word}>{current?.word ?? 'More'}</span>
        </Menu.Trigger>
        <Menu.Portal container={item}>
          <Menu.Positioner className={menu.positioner} side="top" sideOffset={6} align="end">
            <Menu.Popup className={menu.popup}>
              {views.map((view) => (
                <Menu.Item key={view.path} className={menu.item} onClick={() => go(view.path)}>
                  <view.icon size={16} aria-hidden="true" />
                  {view.word}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </li>
  );
}

/** The menu of views: on the left, on narrow screens at the bottom with the most used ones. */
export function Rail(): ReactElement {
  const [path] = useLocation();
  const wide = useWide(720);
  const shown = wide ? VIEWS : VIEWS.filter(({ first }) => first === true);
  return (
    <nav className={css.rail} aria-label="Views">
      <ul>
        {shown.map((view) => (
          <Item key={view.path} view={view} current={isOpen(view, path)} />
        ))}
        {wide ? null : <More path={path} />}
      </ul>
    </nav>
  );
}
