import { type Item, insertItem, replaceItem } from './items.ts';
import type { Step } from './step.ts';

/** Maximum items of one conversation; the oldest is removed first. */
export const MAX_ITEMS = 512;
/** Maximum characters of all items. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * Lengths are cached per item, which is immutable, so that a small message does not cost a scan of the whole
 * conversation.
 */
const lengths = new WeakMap<Item, number>();

function lengthOf(item: Item): number {
  const known = lengths.get(item);
  if (known !== undefined) return known;
  const length = JSON.stringify(item).length;
  lengths.set(item, length);
  return length;
}

/** Returns whether a conversation exceeds the limit of a session. */
export const tooLong = (items: readonly Item[]): boolean =>
  items.reduce((sum, item) => sum + lengthOf(item), 0) > MAX_CHARACTERS;

/**
 * Inserts an item into the conversation and emits the event. Returns false when the previous item does not
 * exist.
 */
export function addItem(step: Step, item: Item, after: string | null): boolean {
  const { items } = step.state;
  const placed = insertItem(items, item, after);
  if (placed === undefined) return false;
  step.set({ items: placed.items });
  step.send('conversation.item.added', { previous_item_id: placed.previous, item });
  return true;
}

/** Completes the item. Removes the oldest items above the limit. */
export function completeItem(step: Step, item: Item): void {
  const at = step.state.items.findIndex(({ id }) => id === item.id);
  const previous = step.state.items[at - 1]?.id ?? null;
  step.set({ items: replaceItem(step.state.items, item) });
  step.send('conversation.item.done', { previous_item_id: previous, item });
  while (step.state.items.length > MAX_ITEMS) dropItem(step, step.state.items[0] as Item);
}

export function dropItem(step: Step, { id }: Item): void {
  const { [id]: _, ...spoken } = step.state.spokenSentences;
  step.set({ items: step.state.items.filter((item) => item.id !== id), spokenSentences: spoken });
  step.send('conversation.item.deleted', { item_id: id });
}

/** Requests the transcription of an item. */
export function transcribeItem(step: Step, item: string, sound: Buffer): void {
  step.set({ transcribing: [...step.state.transcribing, item] });
  step.addEffect({ kind: 'transcribe', item, sound, config: step.state.config.input });
}
