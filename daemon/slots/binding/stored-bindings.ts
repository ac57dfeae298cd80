import { z } from 'zod';
import { SlotName } from '../../contract/slots.ts';

/** Stores one small text across restarts. */
export interface TextStore {
  get(): string | null;
  set(text: string): void;
}

const StoredBindings = z.record(z.string(), SlotName);

/** Reads the stored bindings, model id → slot name. An invalid text gives no bindings. */
export function readBindings(text: string | null): Map<string, string> {
  try {
    const read = StoredBindings.safeParse(JSON.parse(text ?? '{}'));
    return new Map(read.success ? Object.entries(read.data) : []);
  } catch {
    return new Map();
  }
}

/** Bindings to retain although their model has another slot, or none, at the moment. */
export interface Retained {
  /** Ids of models that may come back to their slots. */
  readonly models: ReadonlySet<string>;
  /** Slots that hold another model temporarily. */
  readonly slots: ReadonlySet<string>;
}

/**
 * Returns the bindings to store while `bound` applies: the retained ones of `before`, and the new ones. A model
 * that replaces a retained one keeps the slot that was its own.
 */
export function mergeBindings(
  bound: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string>,
  { models, slots }: Retained,
): Map<string, string> {
  const merged = new Map([...before].filter(([id, name]) => models.has(id) || slots.has(name)));
  const reserved = new Set(merged.values());
  for (const [id, name] of bound) {
    if (merged.has(id)) continue;
    const own = reserved.has(name) ? before.get(id) : name;
    if (own !== undefined) merged.set(id, own);
  }
  return merged;
}

/** Returns the text for {@link readBindings}. Equal bindings give equal texts. */
export function bindingsText(bindings: ReadonlyMap<string, string>): string {
  return JSON.stringify(Object.fromEntries([...bindings].sort(([a], [b]) => (a < b ? -1 : 1))));
}
