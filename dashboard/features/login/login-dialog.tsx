import { Dialog } from '@base-ui/react/dialog';
import { type ReactElement, useRef } from 'react';
import { useSession } from '../../api/session.tsx';
import { buttonClass } from '../../ui/button.tsx';
import dialog from '../../ui/dialog.module.css';
import { KeyInstructions } from './key-help.tsx';
import { LoginForm } from './login-form.tsx';

/** The login as a dialog over the current view. The view, its scroll position and its inputs are preserved. */
export function LoginDialog(): ReactElement {
  const session = useSession();
  const input = useRef<HTMLInputElement>(null);
  return (
    <Dialog.Root
      open={session.isLoginOpen}
      onOpenChange={(open) => (open ? session.openLogin() : session.closeLogin())}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className={dialog.backdrop} />
        <Dialog.Popup className={dialog.popup} initialFocus={input}>
          <Dialog.Title className={dialog.title}>Log in</Dialog.Title>
          <Dialog.Description className={dialog.text}>
            This page stays as it is. The key is SVC_ADMIN_KEY in api.env on the gateway machine.
          </Dialog.Description>
          {session.status?.has_admin_key === false ? (
            <KeyInstructions required={session.status.auth_required} />
          ) : (
            <LoginForm onDone={session.closeLogin} input={input} />
          )}
          <div className={dialog.actions}>
            <Dialog.Close className={buttonClass('quiet')}>Not now</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
