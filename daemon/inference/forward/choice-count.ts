import { asList, asObject, parsed } from '../dialects/json.ts';

/** A comment of a stream that has fewer choices than requested (docs/spec/contract.md#fewer-choices). */
export const FEWER_CHOICES = Buffer.from(': x-svc-ignored: n\n\n');

/** Returns the number of choices of a complete answer; null for another body. */
export function choiceCount(bytes: Buffer): number | null {
  const { length } = asList(asObject(parsed(bytes.toString('utf8')))?.choices);
  return length > 0 ? length : null;
}

/** Counts the choices of a stream by their numbers. */
export class ChoiceCounter {
  readonly #wanted: number;
  readonly #numbers = new Set<number>();

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** There was a choice, but not as many as requested. */
  get isShort(): boolean {
    return this.#numbers.size > 0 && this.#numbers.size < this.#wanted;
  }

  /** Reads one event. Costs nothing where one choice is requested, or all of them have appeared. */
  read(data: string): void {
    if (this.#numbers.size >= this.#wanted || this.#wanted === 1) return;
    for (const choice of asList(asObject(parsed(data))?.choices)) {
      const index = asObject(choice)?.index;
      this.#numbers.add(typeof index === 'number' ? index : 0);
    }
  }
}
