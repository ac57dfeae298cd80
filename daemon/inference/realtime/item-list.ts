import { type Item, insertItem, replaceItem } from './items.ts';
import type { Step } from './step.ts';

/** Items of one conversation; the oldest goes when there are more. */
export const MAX_ITEMS = 512;
/** Characters of all items together. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Items are values, so each is measured once: a tiny message must not cost what the whole conversation weighs. */
const lengths = new WeakMap<Item, number>();

function lengthOf(item: Item): number {
  const known = lengths.get(item);
  if (known !== undefined) return known;
  const length = JSON.stringify(item).length;
  lengths.set(item, length);
  return length;
}

/** Whether a conversation is longer than a session keeps. */
export const tooLong = (items: readonly Item[]): boolean =>
  items.reduce((sum, item) => sum + lengthOf(item), 0) > MAX_CHARACTERS;

/** Puts an item into the conversation and tells so. False when the item before it is not there. */
export function addItem(step: Step, item: Item, after: string | null): boolean {
  const { items } = step.state;
  const placed = insertItem(items, item, after);
  if (placed === undefined) return false;
  step.set({ items: placed.items });
  step.send('conversation.item.added', { previous_item_id: placed.previous, item });
  return true;
}

/** The item is complete; what is too much is taken from the front. */
export function completeItem(step: Step, item: Item): void {
  const at = step.state.items.findIndex(({ id }) => id === item.id);
  const previous = step.state.items[at - 1]?.id ?? null;
  step.set({ items: replaceItem(step.state.items, item) });
  step.send('conversation.item.done', { previous_item_id: previous, item });
  while (step.state.items.length > MAX_ITEMS) dropItem(step, step.state.items[0] as Item);
}

export function dropItem(step: Step, { id }: Item): void {
  const { [id]: _, ...said } = step.state.spokenSentences;
  step.set({ items: step.state.items.filter((item) => item.id !== id), spokenSentences: said });
  step.send('conversation.item.deleted', { item_id: id });
}

/** Has the sound of an item understood. */
export function transcribeItem(step: Step, item: string, sound: Buffer): void {
  step.set({ transcribing: [...step.state.transcribing, item] });
  step.addEffect({ kind: 'transcribe', item, sound, config: step.state.config.input });
}
