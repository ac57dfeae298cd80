import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { buttonClass } from './button.tsx';
import dialog from './dialog.module.css';
import css from './sheet.module.css';

/** A wide dialog with its own URL. On a phone it fills the screen. */
export function Sheet(props: { title: string; onClose: () => void; children: ReactNode }): ReactElement {
  return (
    <Dialog.Root open onOpenChange={(open) => (open ? undefined : props.onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className={dialog.backdrop} />
        <Dialog.Popup className={css.popup}>
          <header className={css.head}>
            <Dialog.Title className={css.title}>{props.title}</Dialog.Title>
            <Dialog.Close className={buttonClass('quiet', true)} aria-label="Close">
              <X size={16} aria-hidden="true" />
            </Dialog.Close>
          </header>
          <div className={css.body}>{props.children}</div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
