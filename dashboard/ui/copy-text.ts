function select(element: HTMLElement): void {
  const selection = getSelection();
  selection?.removeAllRanges();
  const range = document.createRange();
  range.selectNodeContents(element);
  selection?.addRange(range);
}

/** Copies without a secure context, through a temporary selected textarea. */
function copyByField(text: string, sibling: HTMLElement): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'hidden-visually';
  field.setAttribute('aria-hidden', 'true');
  sibling.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

/**
 * Copies a text. Falls back to `execCommand` on plain HTTP, which has no clipboard API. When that fails too, selects the
 * shown text and returns `selected`, so that the user can press the copy keys.
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
