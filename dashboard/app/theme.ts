import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'svc.theme';
const listeners = new Set<() => void>();

function stored(): Theme {
  const value = document.documentElement.dataset.theme;
  return value === 'light' || value === 'dark' ? value : 'system';
}

/** Sets the kept theme once more: the script that does it before the first paint may not have come. */
export function restoreTheme(): void {
  try {
    const chosen = localStorage.getItem(KEY);
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage is switched off: the theme of the system applies.
  }
}

/** Applies a theme and remembers it in this browser; without storage it lasts until the page is closed. */
export function setTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Storage is switched off: nothing to remember.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The theme chosen in this browser. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, stored);
}
