import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { buttonClass } from '../../ui/button.tsx';
import { ReadKey, SetKey } from './set-key.tsx';

/** Where the admin key stands on the machine of the gateway. */
export function WhereTheKeyIs(): ReactElement {
  return (
    <>
      <p>
        It is the value of <code>SVC_ADMIN_KEY</code> in the file <code>api.env</code> of the configuration
        folder, which the gateway names when it starts.
      </p>
      <ReadKey />
      <p>The client key does not log in; it is for apps that call the API.</p>
    </>
  );
}

/** How to get an admin key when none is set; while keys are required, only the file can help. */
export function HowToGetAKey(props: { required: boolean }): ReactElement {
  if (!props.required) {
    return (
      <>
        <p>No admin key is set, so there is nothing to log in with. Nothing makes one by itself.</p>
        <Link className={buttonClass('main')} href="/security/rotate">
          Make an admin key
        </Link>
      </>
    );
  }
  return (
    <>
      <p>Keys are required but no admin key is set, so nobody can log in.</p>
      <SetKey />
    </>
  );
}
