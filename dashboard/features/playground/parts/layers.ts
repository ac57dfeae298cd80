/** What closes with Esc. A list of choices stands in the page, hidden, from the first focus of its button on. */
export function isSomethingOpen(): boolean {
  const layers = document.querySelectorAll('[role="dialog"], [role="listbox"], [role="menu"]');
  return [...layers].some((layer) => layer.checkVisibility({ visibilityProperty: true }));
}
