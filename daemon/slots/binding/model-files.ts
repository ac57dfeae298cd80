import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Patience, SilentPlace } from '../../lib/fs/mount-guard.ts';

/** What lies at a path, as far as a slot needs to know. */
export interface ModelPlace {
  /** Bytes of a file; 0 of a folder. */
  readonly sizeBytes: number;
}

interface Known {
  readonly place: ModelPlace;
  /** When it is looked at again. */
  due: number;
}

const STAYS_MS = 1_000;

const placeOf = (facts: { isFile(): boolean; size: number }): ModelPlace => ({
  sizeBytes: facts.isFile() ? facts.size : 0,
});

/** What lies at a path now; null when nothing does. Throws where the disk does not tell. */
export function placeAt(path: string): ModelPlace | null {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts === undefined ? null : placeOf(facts);
}

/**
 * What lies at the paths that slot files name. What was there a moment ago is answered from memory and looked at again beside the
 * main thread: a share whose server goes away then holds up nobody.
 */
export class ModelPlaces {
  readonly #known = new Map<string, Known>();
  readonly #patience: Patience;

  constructor(patience = new Patience()) {
    this.#patience = patience;
  }

  /** What lies at a path, or did a moment ago; null when nothing does. Throws where the disk does not tell. */
  at(path: string): ModelPlace | null {
    const known = this.#known.get(path);
    if (known === undefined) return this.#learn(path);
    if (performance.now() >= known.due) {
      known.due = Number.POSITIVE_INFINITY;
      void this.#renew(path, known.place);
    }
    return known.place;
  }

  #learn(path: string): ModelPlace | null {
    const place = placeAt(path);
    if (place !== null) this.#keep(path, place);
    return place;
  }

  #keep(path: string, place: ModelPlace): void {
    this.#known.set(path, { place, due: performance.now() + STAYS_MS });
  }

  async #renew(path: string, before: ModelPlace): Promise<void> {
    try {
      this.#keep(path, placeOf(await this.#patience.ask(dirname(path), () => stat(path))));
    } catch (error) {
      if (error instanceof SilentPlace) this.#keep(path, before);
      else this.#known.delete(path);
    }
  }
}
