import { type ReactElement, useEffect, useRef, useState } from 'react';
import { Link, Redirect } from 'wouter';
import { useSession } from '../../api/session.tsx';
import { nextIn } from '../../api/session-state.ts';
import { useTitle } from '../../app/title.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Note } from '../../ui/note.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Closed } from './closed.tsx';
import { KeyInstructions, KeyLocation } from './key-help.tsx';
import css from './login.module.css';
import { LoginForm } from './login-form.tsx';

function SessionNotice(props: { next: string }): ReactElement | null {
  const { sessionState } = useSession();
  if (sessionState !== 'open' && sessionState !== 'admin') return null;
  return (
    <Note tone={sessionState === 'admin' ? 'ok' : 'idle'}>
      <p>
        {sessionState === 'admin'
          ? 'You are logged in.'
          : 'No key is required right now. You can use the dashboard without logging in.'}
      </p>
      <Link className={buttonClass()} href={props.next}>
        Go to the dashboard
      </Link>
    </Note>
  );
}

/** Focuses the key field on mount, because it is the only control of the page. */
function Form(props: { onDone: () => void }): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return <LoginForm onDone={props.onDone} input={input} />;
}

/** The login page. */
export function Login(): ReactElement {
  useTitle('Log in');
  const { status, error, sessionState } = useSession();
  const [done, setDone] = useState(false);
  const next = nextIn(window.location);
  if (done && sessionState === 'admin') return <Redirect to={next} replace />;
  if (status === undefined) {
    return error ? <Failure error={error} /> : <Skeleton lines={4} what="the login" />;
  }
  if (sessionState === 'closed') return <Closed />;
  return (
    <div className={css.page}>
      <img src="/favicon.svg" alt="" width={40} height={40} />
      <h1>Log in to the gateway</h1>
      <SessionNotice next={next} />
      {sessionState === 'admin' ? null : status.has_admin_key ? (
        <>
          <Form onDone={() => setDone(true)} />
          <details className={css.help}>
            <summary>Where is the admin key?</summary>
            <KeyLocation />
          </details>
        </>
      ) : (
        <div className={css.help}>
          <KeyInstructions required={status.auth_required} />
        </div>
      )}
    </div>
  );
}
