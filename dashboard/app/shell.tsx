import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useConnection } from '../api/connection.ts';
import { followEvents } from '../api/events.ts';
import { isInside } from '../api/gate.ts';
import { useSession } from '../api/session.tsx';
import { LoginDialog } from '../features/login/login-dialog.tsx';
import { Notices } from './notices.tsx';
import { Rail } from './rail.tsx';
import css from './shell.module.css';
import { TopBar } from './top-bar.tsx';

/** Moves focus to the view when the address changes, so that keyboards and screen readers start there. */
function useFocusOnArrival(): React.RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null);
  const [path] = useLocation();
  const view = path.split('/')[1];
  const last = useRef(view);
  useEffect(() => {
    if (last.current === view) return;
    last.current = view;
    main.current?.focus({ preventScroll: true });
    main.current?.scrollTo(0, 0);
    scrollTo(0, 0);
  }, [view]);
  return main;
}

function useEventStream(allowed: boolean): void {
  const client = useQueryClient();
  useEffect(() => (allowed ? followEvents(client) : undefined), [client, allowed]);
}

/** The frame around every view. */
export function Shell(props: { children: ReactNode }): ReactElement {
  const main = useFocusOnArrival();
  const { gate } = useSession();
  const { up } = useConnection();
  useEventStream(isInside(gate));
  const outside = gate === 'first' || gate === 'closed';
  const stale = !up || gate === 'expired' || gate === 'enforced';
  return (
    <div className={css.shell} data-rail={outside ? 'none' : 'shown'}>
      <a className={css.skip} href="#view">
        Skip to the view
      </a>
      <TopBar />
      {outside ? null : <Rail />}
      <main ref={main} id="view" tabIndex={-1} className={css.main}>
        <Notices />
        <div className={css.view} data-stale={stale || undefined}>
          {props.children}
        </div>
      </main>
      <LoginDialog />
    </div>
  );
}
