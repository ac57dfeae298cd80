import { z } from 'zod';
import { SlotName } from '../contract/slots.ts';

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

/** The text for {@link readBindings}; the same bindings give the same text. */
export function bindingsText(bindings: ReadonlyMap<string, string>): string {
  return JSON.stringify(Object.fromEntries([...bindings].sort(([a], [b]) => (a < b ? -1 : 1))));
}
