import { useQuery, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { StatusView } from '../../daemon/contract/auth.ts';
import { call } from './client.ts';
import { keyOf, queries } from './queries.ts';
import {
  NO_ACCESS,
  nextPreviousAccess,
  type PreviousAccess,
  type SessionState,
  sessionStateOf,
} from './session-state.ts';
import { useRefused } from './unauthorized.ts';

interface SessionContext {
  sessionState: SessionState;
  /** The last response of `auth.status`. */
  status: StatusView | undefined;
  error: unknown;
  /** Number of logins on this page. */
  logins: number;
  /** Whether the login dialog is open over the current view. */
  isLoginOpen: boolean;
  /** Opens the login dialog over the current view, which is preserved. */
  openLogin: () => void;
  closeLogin: () => void;
  /** Call after a successful login; refreshes everything. */
  onLoggedIn: () => Promise<void>;
  /** Call after all sessions were ended on purpose, including this one. */
  onSessionsEnded: () => Promise<void>;
  /** Ends the session on the gateway. Throws ApiError. */
  logOut: () => Promise<void>;
}

const Context = createContext<SessionContext | null>(null);

/** Provides the session state of this browser. */
export function SessionProvider(props: { children: ReactNode }): ReactElement {
  const client = useQueryClient();
  const { data: status, error } = useQuery(queries.auth);
  const previous = useRef<PreviousAccess>(NO_ACCESS);
  const [isLoginOpen, setIsLoginOpen] = useState(false);
  const [logins, setLogins] = useState(0);
  const openLogin = useCallback(() => setIsLoginOpen(true), []);
  const sessionState = sessionStateOf(status, previous.current, useRefused(client));
  previous.current = nextPreviousAccess(previous.current, sessionState);

  const value = useMemo<SessionContext>(() => {
    const refreshOthers = (): Promise<void> =>
      client.invalidateQueries({ predicate: (query) => query.queryKey[0] !== keyOf('auth.status')[0] });
    const onSessionsEnded = async (): Promise<void> => {
      previous.current = NO_ACCESS;
      client.setQueryData(queries.auth.queryKey, (known) => known && { ...known, tier: 'anon' as const });
      // The views unmount first, so that they send no requests that would be refused.
      await client.invalidateQueries({ queryKey: keyOf('auth.status') });
      await refreshOthers();
    };
    return {
      sessionState,
      status,
      error,
      logins,
      isLoginOpen,
      openLogin,
      closeLogin: () => setIsLoginOpen(false),
      onLoggedIn: async () => {
        await client.fetchQuery({ ...queries.auth, staleTime: 0 });
        setIsLoginOpen(false);
        setLogins((before) => before + 1);
        void refreshOthers();
      },
      onSessionsEnded,
      logOut: async () => {
        await call('auth.logout');
        await onSessionsEnded();
      },
    };
  }, [sessionState, status, error, logins, isLoginOpen, openLogin, client]);
  return <Context value={value}>{props.children}</Context>;
}

/** The session state, with actions to log in and out. */
export function useSession(): SessionContext {
  const value = useContext(Context);
  if (value === null) throw new Error('useSession outside SessionProvider');
  return value;
}
