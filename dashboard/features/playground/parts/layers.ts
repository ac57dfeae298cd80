/** Whether a dialog, list or menu is visible that Esc closes. Select lists stay in the DOM, hidden, after the first focus. */
export function isSomethingOpen(): boolean {
  const layers = document.querySelectorAll('[role="dialog"], [role="listbox"], [role="menu"]');
  return [...layers].some((layer) => layer.checkVisibility({ visibilityProperty: true }));
}
