import { Switch } from '@base-ui/react/switch';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { StatusOverviewView } from '../../../daemon/contract/system.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Note } from '../../ui/note.tsx';
import { openingSentence } from './consequence.ts';
import { type Lock, lockOf } from './lock.ts';
import css from './security.module.css';

const SOURCES = {
  env: 'set by environment variable',
  file: 'from the configuration file',
  default: 'default',
} as const;

const LOCK_NOTES: Record<NonNullable<Lock>, ReactNode> = {
  env: (
    <p>
      Set by the environment: <code>SVC_REQUIRE_AUTH</code> is set and overrides this switch. To use the
      switch, remove it from <code>api.env</code> (or from the environment of the gateway).
    </p>
  ),
  no_key: (
    <p>
      No admin key is set, so keys cannot be required yet.{' '}
      <Link href="/security/rotate">Create an admin key</Link> first, or set <code>SVC_ADMIN_KEY</code> in{' '}
      <code>api.env</code>.
    </p>
  ),
};

function Consequence(props: { on: boolean; status: StatusOverviewView; loggedIn: boolean }): ReactElement {
  if (props.on) {
    return (
      <>
        <p>Every request will need a key. Apps without one stop working immediately.</p>
        <p>
          {props.loggedIn
            ? 'You stay logged in here.'
            : 'This browser has no session: you will have to log in with the admin key.'}
        </p>
      </>
    );
  }
  return <p>{openingSentence(props.status)}</p>;
}

function useRequire(onDone: (on: boolean) => void) {
  const client = useQueryClient();
  return useAction({
    send: (on: boolean) => call('auth.require', { body: { require_auth: on } }),
    onSuccess: () => {
      for (const id of ['auth.status', 'status', 'auth.exposure', 'settings'] as const) {
        void client.invalidateQueries({ queryKey: keyOf(id) });
      }
    },
    onDone: (answer) => onDone(answer.require_auth),
  });
}

/** The switch that requires keys; confirms each change with its effect. */
export function EnforcementSwitch(props: { status: StatusOverviewView }): ReactElement {
  const { status } = props;
  const session = useSession();
  const on = status.enforcement.require_auth;
  const lock = lockOf(status);
  const [isOpen, setIsOpen] = useState(false);
  const loggedIn = session.sessionState === 'admin';
  const isLoginNext = useRef(false);
  const require = useRequire((now) => {
    isLoginNext.current = now && !loggedIn;
    setIsOpen(false);
  });
  const onClosed = (): void => {
    if (isLoginNext.current) session.openLogin();
    isLoginNext.current = false;
  };
  const open = (): void => {
    require.reset();
    setIsOpen(true);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the switch renders the control */}
      <label className={css.switchRow}>
        <Switch.Root className={css.switch} checked={on} disabled={lock !== null} onCheckedChange={open}>
          <Switch.Thumb className={css.thumb} />
        </Switch.Root>
        <span>
          <span className={css.strong}>Require keys</span>
          <span className={css.soft}>
            {on ? 'On' : 'Off'}, {SOURCES[status.enforcement.source]}
          </span>
        </span>
      </label>
      {lock === null ? null : <Note tone="idle">{LOCK_NOTES[lock]}</Note>}
      <Confirm
        open={isOpen}
        title={on ? 'Stop requiring keys?' : 'Require keys?'}
        action={on ? 'Stop requiring keys' : 'Require keys'}
        danger={on}
        busy={require.isPending}
        error={require.error}
        onConfirm={() => require.mutate(!on)}
        onClose={() => setIsOpen(false)}
        onClosed={onClosed}
      >
        <Consequence on={!on} status={status} loggedIn={loggedIn} />
      </Confirm>
    </>
  );
}
