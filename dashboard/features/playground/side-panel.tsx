import { Dialog } from '@base-ui/react/dialog';
import { Tabs } from '@base-ui/react/tabs';
import type { ReactElement } from 'react';
import { buttonClass } from '../../ui/button.tsx';
import dialog from '../../ui/dialog.module.css';
import tabs from '../../ui/tabs.module.css';
import { ChatCode } from './chat-code.tsx';
import { ParameterFields } from './parameter-fields.tsx';
import css from './side-panel.module.css';

function PanelTabs(props: { model: string | null }): ReactElement {
  return (
    <Tabs.Root className={tabs.root} defaultValue="parameters">
      <Tabs.List className={tabs.list} aria-label="Request">
        <Tabs.Tab className={tabs.tab} value="parameters">
          Parameters
        </Tabs.Tab>
        <Tabs.Tab className={tabs.tab} value="code">
          Code
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel className={tabs.panel} value="parameters">
        <ParameterFields />
      </Tabs.Panel>
      <Tabs.Panel className={tabs.panel} value="code">
        <ChatCode model={props.model} />
      </Tabs.Panel>
    </Tabs.Root>
  );
}

/** Parameters and code next to the chat. */
export function SidePanel(props: { model: string | null }): ReactElement {
  return (
    <aside className={css.panel} aria-label="Parameters and code">
      <PanelTabs model={props.model} />
    </aside>
  );
}

/** Parameters and code as a dialog, for narrow windows. */
export function SidePanelDialog(props: {
  open: boolean;
  onClose: () => void;
  model: string | null;
}): ReactElement {
  return (
    <Dialog.Root open={props.open} onOpenChange={(open) => (open ? undefined : props.onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className={dialog.backdrop} />
        <Dialog.Popup className={dialog.popup}>
          <Dialog.Title className={dialog.title}>Parameters and code</Dialog.Title>
          <PanelTabs model={props.model} />
          <div className={dialog.actions}>
            <Dialog.Close className={buttonClass('main')}>Done</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
