/** A text store for tests: its text, and how often it was written. */
export class MemoryTextStore {
  text: string | null = null;
  writes = 0;
  get = (): string | null => this.text;
  set = (text: string): void => {
    this.text = text;
    this.writes += 1;
  };
}
