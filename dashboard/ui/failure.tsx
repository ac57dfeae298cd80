import { type ReactElement, useRef } from 'react';
import { type FailureInfo, needsLogin, readableAdvice, toFailureInfo } from '../api/api-error.ts';
import { useSession } from '../api/session.tsx';
import { Button } from './button.tsx';
import { Copy } from './copy.tsx';
import { useCountdown } from './countdown.ts';
import css from './failure.module.css';
import { Note } from './note.tsx';
import { StateShape } from './state-badge.tsx';

interface FieldFault {
  path: string;
  reason: string;
}

/** The invalid fields that the message does not name. */
function faults(message: string, details: Record<string, unknown>): FieldFault[] {
  if (!Array.isArray(details.fields)) return [];
  return details.fields
    .filter((row): row is FieldFault => typeof row?.path === 'string' && !message.includes(row.reason))
    .slice(0, 8);
}

function names(details: Record<string, unknown>): string {
  const list = Array.isArray(details.suggestions) ? details.suggestions : [];
  return list
    .filter((name) => typeof name === 'string')
    .slice(0, 8)
    .join(', ');
}

/** The details of an error. */
function Details(props: { message: string; details: Record<string, unknown> }): ReactElement {
  const { message, details } = props;
  const { reason } = details;
  const near = names(details);
  return (
    <>
      {faults(message, details).map((fault) => (
        <p key={fault.path}>
          <code>{fault.path}</code>: {fault.reason}
        </p>
      ))}
      {typeof reason === 'string' && !message.includes(reason.replace(/\.$/, '')) ? (
        <p>Reason: {reason}</p>
      ) : null}
      {near === '' ? null : <p>Similar names: {near}</p>}
    </>
  );
}

/** The next step. */
function Advice(props: { info: FailureInfo; left: number }): ReactElement {
  const { info, left } = props;
  const { sessionState } = useSession();
  const login =
    sessionState === 'open' || sessionState === 'lapsed'
      ? 'No key is required for the models, but this needs the admin key from another machine.'
      : 'Log in with the admin key to continue.';
  const advice = info.code === 'auth.required' ? login : readableAdvice(info);
  return (
    <>
      {advice === null ? null : <p>{advice}</p>}
      {info.retryAfterS === null ? null : (
        <p className={css.wait}>{left > 0 ? `Try again in ${left} s.` : 'You can try again now.'}</p>
      )}
    </>
  );
}

/** Replaces an error for a missing key after a login. */
function LoggedInAgain(props: {
  retry: (() => void) | undefined;
  retryWord: string | undefined;
}): ReactElement {
  return (
    <Note tone="ok">
      <p>You are logged in. Nothing was sent again.</p>
      {props.retry ? <Button onClick={props.retry}>{props.retryWord ?? 'Try again'}</Button> : null}
    </Note>
  );
}

/** Whether a login has happened since the request was refused, here or in another tab. */
function useLoggedInAgain(error: unknown): boolean {
  const { sessionState, logins } = useSession();
  // One failure may be passed as several objects with the same request id.
  const { requestId } = toFailureInfo(error);
  const observed = useRef({ requestId, logins, out: false });
  // The page may not know yet that its session has ended.
  if (observed.current.requestId !== requestId) observed.current = { requestId, logins, out: false };
  if (sessionState !== 'admin') observed.current.out = true;
  const { out, logins: before } = observed.current;
  return needsLogin(error) && sessionState === 'admin' && (out || logins > before);
}

/** Shows an error: message, next step, details, and the request id to copy. */
export function Failure(props: {
  error: unknown;
  /** Replaces the message, where the view can say the same in terms of its fields. */
  headline?: string | undefined;
  retry?: () => void;
  retryWord?: string;
}): ReactElement {
  const info = toFailureInfo(props.error);
  const id = useRef<HTMLElement>(null);
  const session = useSession();
  const left = useCountdown(info.retryAt);
  if (useLoggedInAgain(props.error)) return <LoggedInAgain retry={props.retry} retryWord={props.retryWord} />;
  return (
    <div className={css.failure} role="alert">
      <StateShape tone="failed" />
      <div className={css.words}>
        <p className={css.message}>{props.headline ?? info.message}</p>
        <Advice info={info} left={left} />
        <Details message={info.message} details={info.details} />
        <p className={css.id}>
          <code>{info.code}</code>
          {info.requestId === null ? null : (
            <>
              <span>
                Request <code ref={id}>{info.requestId}</code>
              </span>
              <Copy text={info.requestId} shown={id} what="the request id" />
            </>
          )}
        </p>
        <div className={css.actions}>
          {needsLogin(props.error) ? (
            <Button variant="main" onClick={session.openLogin}>
              Log in
            </Button>
          ) : null}
          {props.retry ? (
            <Button onClick={props.retry} disabled={left > 0}>
              {props.retryWord ?? 'Try again'}
            </Button>
          ) : null}
        </div>
      </div>
    </div>
  );
}
