/** Follows JSON text that arrives in fragments, and reports whether it is a complete object. */
export class ObjectProgress {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #state: 'empty' | 'open' | 'complete' | 'other' = 'empty';

  /** Only white space has arrived. */
  get isEmpty(): boolean {
    return this.#state === 'empty';
  }

  /** One whole object has arrived, followed by white space at most. Its content is not validated. */
  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  /** Returns the number of characters up to the end of the object; that of all while there is no end. */
  push(text: string): number {
    for (let at = 0; at < text.length && this.#state !== 'other'; at++) {
      const wasOpen = this.#state === 'open';
      this.#read(text[at] as string);
      if (wasOpen && this.isComplete) return at + 1;
    }
    return text.length;
  }

  #read(character: string): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
    } else if (this.#state === 'open') this.#readOpen(character);
    else if (character.trim() === '') return;
    else if (this.#state === 'empty' && character === '{') {
      this.#state = 'open';
      this.#depth = 1;
    } else this.#state = 'other';
  }

  #readOpen(character: string): void {
    if (character === '"') this.#isInString = true;
    else if (character === '{' || character === '[') this.#depth++;
    else if ((character === '}' || character === ']') && --this.#depth === 0) this.#state = 'complete';
  }
}
