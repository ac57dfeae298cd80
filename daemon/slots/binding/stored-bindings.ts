import { z } from 'zod';
import { SlotName } from '../../contract/slots.ts';

/** A place for one small text that outlives the gateway. */
export interface TextStore {
  get(): string | null;
  set(text: string): void;
}

const StoredBindings = z.record(z.string(), SlotName);

/** Which model had which slot, model id → slot name; a text that is none is no memory. */
export function readBindings(text: string | null): Map<string, string> {
  try {
    const read = StoredBindings.safeParse(JSON.parse(text ?? '{}'));
    return new Map(read.success ? Object.entries(read.data) : []);
  } catch {
    return new Map();
  }
}

/** What waits although its model has another slot, or none, at the moment. */
export interface Retained {
  /** Ids of models that may come back to their slots. */
  readonly models: ReadonlySet<string>;
  /** Slots that hold another model for this run. */
  readonly slots: ReadonlySet<string>;
}

/**
 * The bindings to keep while `bound` holds, of which those `before` it that wait stay. Who stands in for a model that may come
 * back keeps the slot that was its own.
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

/** The text for {@link readBindings}; the same bindings give the same text. */
export function bindingsText(bindings: ReadonlyMap<string, string>): string {
  return JSON.stringify(Object.fromEntries([...bindings].sort(([a], [b]) => (a < b ? -1 : 1))));
}
