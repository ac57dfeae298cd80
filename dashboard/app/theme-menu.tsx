import { Menu } from '@base-ui/react/menu';
import { Check, type LucideIcon, Monitor, Moon, Sun } from 'lucide-react';
import type { ReactElement } from 'react';
import { buttonClass } from '../ui/button.tsx';
import menu from '../ui/menu.module.css';
import { setTheme, type Theme, useTheme } from './theme.ts';

export const THEMES: ReadonlyArray<{ value: Theme; word: string; icon: LucideIcon }> = [
  { value: 'system', word: 'System', icon: Monitor },
  { value: 'light', word: 'Light', icon: Sun },
  { value: 'dark', word: 'Dark', icon: Moon },
];

/** Menu for light, dark and system theme. */
export function ThemeMenu(props: { menuIn: HTMLElement | null }): ReactElement {
  const theme = useTheme();
  const Icon = THEMES.find((row) => row.value === theme)?.icon ?? Monitor;
  return (
    <Menu.Root>
      <Menu.Trigger className={buttonClass('quiet', true)} aria-label={`Theme: ${theme}`}>
        <Icon size={16} aria-hidden="true" />
      </Menu.Trigger>
      <Menu.Portal container={props.menuIn}>
        <Menu.Positioner className={menu.positioner} sideOffset={6} align="end">
          <Menu.Popup className={menu.popup}>
            <Menu.RadioGroup value={theme} onValueChange={(value: Theme) => setTheme(value)}>
              {THEMES.map((row) => (
                <Menu.RadioItem key={row.value} className={menu.item} value={row.value} closeOnClick>
                  <row.icon size={16} aria-hidden="true" />
                  {row.word}
                  <Menu.RadioItemIndicator className={menu.chosen}>
                    <Check size={16} aria-hidden="true" />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
