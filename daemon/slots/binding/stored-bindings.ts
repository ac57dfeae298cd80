import { z } from 'zod';
import { SlotName } from '../../contract/slots.ts';

/** A place for one small text that outlives the gateway. */
export interface KeptText {
  get(): string | null;
  set(text: string): void;
}

const Kept = z.record(z.string(), SlotName);

/** Which model had which slot, model id → slot name; a text that is none is no memory. */
export function readBindings(text: string | null): Map<string, string> {
  try {
    const read = Kept.safeParse(JSON.parse(text ?? '{}'));
    return new Map(read.success ? Object.entries(read.data) : []);
  } catch {
    return new Map();
  }
}

/** What waits although its model has another slot, or none, at the moment. */
export interface Waiting {
  /** Ids of models that may come back to their slots. */
  readonly models: ReadonlySet<string>;
  /** Slots that hold another model for this run. */
  readonly slots: ReadonlySet<string>;
}

/**
 * The bindings to keep while `bound` holds, of which those `before` it that wait stay. Who stands in for a model that may come
 * back keeps the slot that was its own.
 */
export function bindingsToKeep(
  bound: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string>,
  { models, slots }: Waiting,
): Map<string, string> {
  const kept = new Map([...before].filter(([id, name]) => models.has(id) || slots.has(name)));
  const reserved = new Set(kept.values());
  for (const [id, name] of bound) {
    if (kept.has(id)) continue;
    const own = reserved.has(name) ? before.get(id) : name;
    if (own !== undefined) kept.set(id, own);
  }
  return kept;
}

/** The text for {@link readBindings}; the same bindings give the same text. */
export function bindingsText(bindings: ReadonlyMap<string, string>): string {
  return JSON.stringify(Object.fromEntries([...bindings].sort(([a], [b]) => (a < b ? -1 : 1))));
}
