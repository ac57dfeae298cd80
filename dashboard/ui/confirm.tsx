import { AlertDialog } from '@base-ui/react/alert-dialog';
import { type ReactElement, type ReactNode, useRef } from 'react';
import { Button, buttonClass } from './button.tsx';
import css from './dialog.module.css';
import { Failure } from './failure.tsx';

/** Focuses an element after the dialog has closed. Returns true to keep the default focus of the dialog. */
function moveFocus(to: HTMLElement | null): boolean {
  if (to === null) return true;
  queueMicrotask(() => to.focus());
  return false;
}

/** A confirmation dialog. Stays open and shows the error when the action fails. */
export function Confirm(props: {
  open: boolean;
  title: string;
  /** Describes the effect of the action. */
  children: ReactNode;
  action: string;
  danger?: boolean;
  busy: boolean;
  /** Disables the action; the text explains what is missing. */
  locked?: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
  /** Called when the closing animation has ended. Open another dialog here: before, the focus would leave it again. */
  onClosed?: () => void;
  /** The focus target after closing when the opening element is gone; null for the default. */
  focusAfter?: () => HTMLElement | null;
}): ReactElement {
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <AlertDialog.Root
      open={props.open}
      onOpenChange={(open) => (open ? undefined : props.onClose())}
      onOpenChangeComplete={(open) => (open ? undefined : props.onClosed?.())}
    >
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={css.backdrop} />
        <AlertDialog.Popup
          className={css.popup}
          initialFocus={cancel}
          finalFocus={() => moveFocus(props.focusAfter?.() ?? null)}
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
              variant={props.danger ? 'danger' : 'main'}
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
