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

  push(text: string): void {
    if (this.#state === 'other') return;
    for (const character of text) this.#read(character);
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
