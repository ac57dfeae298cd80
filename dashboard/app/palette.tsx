import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { Search } from 'lucide-react';
import { type ReactElement, useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../api/session.tsx';
import { buttonClass } from '../ui/button.tsx';
import dialog from '../ui/dialog.module.css';
import css from './palette.module.css';
import { setTheme } from './theme.ts';
import { THEMES } from './theme-menu.tsx';
import { VIEWS } from './views.ts';

interface Command {
  label: string;
  run: () => void;
}

function useCommands(): Command[] {
  const [, go] = useLocation();
  const session = useSession();
  return useMemo(
    () => [
      ...VIEWS.map((view) => ({ label: `Go to ${view.word}`, run: () => go(view.path) })),
      ...VIEWS.flatMap((view) =>
        view.tabs.slice(1).map((tab) => ({
          label: `Go to ${view.word}: ${tab.word}`,
          run: () => go(`${view.path}/${tab.id}`),
        })),
      ),
      { label: 'Go to Setup', run: () => go('/setup') },
      ...THEMES.map((theme) => ({
        label: `Theme: ${theme.word.toLowerCase()}`,
        run: () => setTheme(theme.value),
      })),
      ...(session.sessionState === 'admin' ? [] : [{ label: 'Log in', run: session.openLogin }]),
    ],
    [go, session.sessionState, session.openLogin],
  );
}

function useShortcut(toggle: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      toggle();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [toggle]);
}

/** The command palette (Ctrl or ⌘ and K): views and actions by name. */
export function Palette(): ReactElement {
  const [open, setOpen] = useState(false);
  const commands = useCommands();
  useShortcut(useMemo(() => () => setOpen((was) => !was), []));
  const run = (command: Command): void => {
    setOpen(false);
    command.run();
  };
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger className={buttonClass('quiet', true)} aria-label="Command palette" title="Ctrl+K">
        <Search size={16} aria-hidden="true" />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className={dialog.backdrop} />
        <Dialog.Popup className={css.popup} aria-label="Command palette">
          <Autocomplete.Root items={commands} inline open autoHighlight="always" keepHighlight>
            <Autocomplete.Input className={css.input} aria-label="Command" placeholder="Type a command…" />
            <Autocomplete.Empty className={css.none}>No matching command.</Autocomplete.Empty>
            <Autocomplete.List className={css.list}>
              {(command: Command) => (
                <Autocomplete.Item
                  key={command.label}
                  className={css.item}
                  value={command}
                  onClick={() => run(command)}
                >
                  {command.label}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
