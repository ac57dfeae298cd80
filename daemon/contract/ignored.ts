/** The response header that names what a request contained and the model did not receive. */
export const IGNORED_HEADER = 'x-svc-ignored';

/** Maximum length of the header. */
const MAX_HEADER_LENGTH = 200;
/** Maximum number of names. Callers choose the names, so their number must be bounded. */
const MAX_NAMES = 32;
const MAX_NAME_LENGTH = 64;

/** Collects the names of blocks, items and tools that are left out. */
export class IgnoredNames {
  readonly #names = new Set<string>();

  add(name: string): void {
    if (this.#names.size < MAX_NAMES) this.#names.add(name.slice(0, MAX_NAME_LENGTH));
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  /** Returns the header as an object; empty when nothing was left out. */
  header(): Record<string, string> {
    return this.#names.size === 0 ? {} : { [IGNORED_HEADER]: headerList(this.names) };
  }
}

/** Returns the names as one header value of limited length. */
export const headerList = (names: readonly string[]): string =>
  names
    .join(', ')
    .slice(0, MAX_HEADER_LENGTH)
    .replace(/[^\x20-\x7e]/g, '?');

/** Combines two header values without repeating a name. */
export const mergedHeader = (before: string | undefined, more: string): string =>
  headerList([...new Set([...(before ? before.split(', ') : []), ...more.split(', ')])]);
