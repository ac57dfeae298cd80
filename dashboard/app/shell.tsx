import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useConnection } from '../api/connection.ts';
import { followEvents } from '../api/events.ts';
import { useSession } from '../api/session.tsx';
import { isInside } from '../api/session-state.ts';
import { LoginDialog } from '../features/login/login-dialog.tsx';
import { Notices } from './notices.tsx';
import { Rail } from './rail.tsx';
import css from './shell.module.css';
import { TopBar } from './top-bar.tsx';

/** Moves the focus to the view when it changes, unless the view has already set it. */
function useFocusOnArrival(box: RefObject<HTMLElement | null>): RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null);
  const [path] = useLocation();
  const view = path.split('/')[1];
  const last = useRef(view);
  useEffect(() => {
    if (last.current === view) return;
    last.current = view;
    if (!box.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
    main.current?.scrollTo(0, 0);
    scrollTo(0, 0);
  }, [view, box]);
  return main;
}

function useEventStream(allowed: boolean): void {
  const client = useQueryClient();
  useEffect(() => (allowed ? followEvents(client) : undefined), [client, allowed]);
}

/** The layout around every view. */
export function Shell(props: { children: ReactNode }): ReactElement {
  const view = useRef<HTMLDivElement>(null);
  const main = useFocusOnArrival(view);
  const { sessionState } = useSession();
  const { up } = useConnection();
  useEventStream(isInside(sessionState));
  const outside = sessionState === 'first' || sessionState === 'closed';
  const stale = !up || sessionState === 'expired' || sessionState === 'enforced';
  return (
    <div className={css.shell} data-rail={outside ? 'none' : 'shown'}>
      <a className={css.skip} href="#view">
        Skip to content
      </a>
      <TopBar />
      {outside ? null : <Rail />}
      <main ref={main} id="view" tabIndex={-1} className={css.main}>
        <Notices />
        <div ref={view} className={css.view} data-stale={stale || undefined}>
          {props.children}
        </div>
      </main>
      <LoginDialog />
    </div>
  );
}
