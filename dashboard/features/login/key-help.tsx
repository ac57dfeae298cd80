import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { buttonClass } from '../../ui/button.tsx';
import { ReadKey, SetKey } from './set-key.tsx';

/** Explains where the admin key is stored on the gateway machine. */
export function KeyLocation(): ReactElement {
  return (
    <>
      <p>
        It is the value of <code>SVC_ADMIN_KEY</code> in <code>api.env</code> in the configuration folder. The
        gateway prints the path of that folder when it starts.
      </p>
      <ReadKey />
      <p>The client key can’t log in. It is for apps that call the API.</p>
    </>
  );
}

/** Explains how to create the first admin key. While keys are required, only editing the file works. */
export function KeyInstructions(props: { required: boolean }): ReactElement {
  if (!props.required) {
    return (
      <>
        <p>No admin key is set, so there is nothing to log in with. No key is created automatically.</p>
        <Link className={buttonClass('main')} href="/security/rotate">
          Create an admin key
        </Link>
      </>
    );
  }
  return (
    <>
      <p>Keys are required but no admin key is set, so no one can log in.</p>
      <SetKey />
    </>
  );
}
