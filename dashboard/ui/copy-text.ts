function select(element: HTMLElement): void {
  const selection = getSelection();
  selection?.removeAllRanges();
  const range = document.createRange();
  range.selectNodeContents(element);
  selection?.addRange(range);
}

/** The way to copy that needs no secure context: a field beside the text, selected for a moment. */
function copyByField(text: string, beside: HTMLElement): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'hidden-visually';
  field.setAttribute('aria-hidden', 'true');
  beside.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

/**
 * Copies a text. Pages on plain HTTP have no clipboard API: then it is copied the old way, and when that is refused
 * too, the shown text is selected, the answer is `selected`, and the reader presses the copy keys.
 */
export async function copyText(text: string, shown: HTMLElement | null): Promise<'copied' | 'selected'> {
  if (window.isSecureContext && navigator.clipboard !== undefined) {
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (done) return 'copied';
  }
  if (copyByField(text, shown?.parentElement ?? document.body)) return 'copied';
  if (shown !== null) select(shown);
  return 'selected';
}
