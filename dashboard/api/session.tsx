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
import { type Gate, gateOf, NO_PAST, type Past, pastAfter } from './gate.ts';
import { keyOf, queries } from './queries.ts';
import { useRefused } from './refused.ts';

interface SessionContext {
  gate: Gate;
  /** The last response of `auth.status`. */
  status: StatusView | undefined;
  error: unknown;
  /** Number of logins on this page. */
  logins: number;
  /** Whether the login dialog is open over the current view. */
  asking: boolean;
  /** Opens the login dialog over the current view, which is preserved. */
  ask: () => void;
  dismiss: () => void;
  /** Call after a successful login; refreshes everything. */
  entered: () => Promise<void>;
  /** Call after all sessions were ended on purpose, including this one. */
  ended: () => Promise<void>;
  /** Ends the session on the gateway. Throws ApiError. */
  leave: () => Promise<void>;
}

const Context = createContext<SessionContext | null>(null);

/** Provides the session state of this browser. */
export function SessionProvider(props: { children: ReactNode }): ReactElement {
  const client = useQueryClient();
  const { data: status, error } = useQuery(queries.auth);
  const past = useRef<Past>(NO_PAST);
  const [asking, setAsking] = useState(false);
  const [logins, setLogins] = useState(0);
  const ask = useCallback(() => setAsking(true), []);
  const gate = gateOf(status, past.current, useRefused(client));
  past.current = pastAfter(past.current, gate);

  const value = useMemo<SessionContext>(() => {
    const refreshOthers = (): Promise<void> =>
      client.invalidateQueries({ predicate: (query) => query.queryKey[0] !== keyOf('auth.status')[0] });
    const ended = async (): Promise<void> => {
      past.current = NO_PAST;
      client.setQueryData(queries.auth.queryKey, (known) => known && { ...known, tier: 'anon' as const });
      // The views unmount first, so that they send no requests that would be refused.
      await client.invalidateQueries({ queryKey: keyOf('auth.status') });
      await refreshOthers();
    };
    return {
      gate,
      status,
      error,
      logins,
      asking,
      ask,
      dismiss: () => setAsking(false),
      entered: async () => {
        await client.fetchQuery({ ...queries.auth, staleTime: 0 });
        setAsking(false);
        setLogins((before) => before + 1);
        void refreshOthers();
      },
      ended,
      leave: async () => {
        await call('auth.logout');
        await ended();
      },
    };
  }, [gate, status, error, logins, asking, ask, client]);
  return <Context value={value}>{props.children}</Context>;
}

/** The session state, with actions to log in and out. */
export function useSession(): SessionContext {
  const value = useContext(Context);
  if (value === null) throw new Error('useSession outside SessionProvider');
  return value;
}
