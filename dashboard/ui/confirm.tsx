import { AlertDialog } from '@base-ui/react/alert-dialog';
import { type ReactElement, type ReactNode, useRef } from 'react';
import { Button, buttonClass } from './button.tsx';
import css from './dialog.module.css';
import { Failure } from './failure.tsx';

/** Moves the keyboard there once the dialog has left; true leaves it to the dialog, which would take the first field inside. */
function handOver(to: HTMLElement | null): boolean {
  if (to === null) return true;
  queueMicrotask(() => to.focus());
  return false;
}

/** Asks before something that has consequences; stays open with the reason when it fails. */
export function Confirm(props: {
  open: boolean;
  title: string;
  /** What will happen, in full. */
  children: ReactNode;
  action: string;
  danger?: boolean;
  busy: boolean;
  /** The act cannot be confirmed yet; what is missing stands in the text. */
  locked?: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
  /** Where the keyboard goes on when what opened it is gone; null for what opened it. */
  goOn?: () => HTMLElement | null;
}): ReactElement {
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <AlertDialog.Root open={props.open} onOpenChange={(open) => (open ? undefined : props.onClose())}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={css.backdrop} />
        <AlertDialog.Popup
          className={css.popup}
          initialFocus={cancel}
          finalFocus={() => handOver(props.goOn?.() ?? null)}
        >
          <AlertDialog.Title className={css.title}>{props.title}</AlertDialog.Title>
          <AlertDialog.Description className={css.text} render={<div />}>
            {props.children}
          </AlertDialog.Description>
          {props.error == null ? null : <Failure error={props.error} />}
          <div className={css.actions}>
            <AlertDialog.Close ref={cancel} className={buttonClass()}>
              Cancel
            </AlertDialog.Close>
            <Button
              look={props.danger ? 'danger' : 'main'}
              busy={props.busy}
              disabled={props.locked === true}
              onClick={props.onConfirm}
            >
              {props.action}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
