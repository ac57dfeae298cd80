import { Menu } from '@base-ui/react/menu';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, LogOut, TimerReset } from 'lucide-react';
import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { useAction } from '../api/action.ts';
import { queries } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { moment, steadyDuration } from '../ui/format.ts';
import menu from '../ui/menu.module.css';
import { useNow } from '../ui/now.ts';
import css from './session-chip.module.css';

const SOON_MS = 10 * 60_000;

function LoggedIn(props: { menuIn: HTMLElement | null }): ReactElement {
  const now = useNow();
  const session = useSession();
  const [, go] = useLocation();
  const { data } = useQuery(queries.sessions);
  const leave = useAction({ send: session.logOut });
  const current = data?.find((row) => row.current);
  const left = current === undefined ? null : current.expires_at * 1000 - now;
  const word = left === null ? 'Logged in' : steadyDuration(left);
  return (
    <Menu.Root>
      <Menu.Trigger
        className={buttonClass('quiet')}
        data-soon={left !== null && left < SOON_MS ? '' : undefined}
      >
        <TimerReset size={16} aria-hidden="true" className={css.icon} />
        <span className="hidden-visually">Session, time left: </span>
        <span className={css.left}>{word}</span>
      </Menu.Trigger>
      <Menu.Portal container={props.menuIn}>
        <Menu.Positioner className={menu.positioner} sideOffset={6} align="end">
          <Menu.Popup className={menu.popup}>
            <p className={menu.text}>
              Logged in as admin
              {current === undefined ? '' : ` until ${moment(current.expires_at * 1000)}`}.
            </p>
            {leave.error === null ? null : (
              <p className={menu.fault}>Logging out failed: {leave.error.message}</p>
            )}
            <Menu.Item className={menu.item} onClick={() => go('/security/sessions')}>
              <KeyRound size={16} aria-hidden="true" /> All sessions
            </Menu.Item>
            <Menu.Item className={menu.item} closeOnClick={false} onClick={() => leave.mutate()}>
              <LogOut size={16} aria-hidden="true" /> Log out
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** The session of this browser: remaining time, login and logout. */
export function SessionChip(props: { menuIn: HTMLElement | null }): ReactElement | null {
  const session = useSession();
  const [path] = useLocation();
  if (session.sessionState === 'admin') return <LoggedIn menuIn={props.menuIn} />;
  if (session.sessionState === 'unknown' || session.sessionState === 'closed' || path === '/login')
    return null;
  if (session.sessionState === 'open' && session.status?.has_admin_key === false) {
    return (
      <Link className={`${buttonClass('quiet')} ${css.wide}`} href="/login">
        No login needed
      </Link>
    );
  }
  return (
    <Button variant={session.sessionState === 'open' ? 'quiet' : 'main'} onClick={session.openLogin}>
      Log in
    </Button>
  );
}
