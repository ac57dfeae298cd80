import type { SlotRecord, SlotTypeName } from '../../../daemon/contract/slots.ts';

/** The kinds of slots in the order of the view, in plain words. */
export const TYPES: readonly { type: SlotTypeName; word: string }[] = [
  { type: 'llm', word: 'Chat' },
  { type: 'embedding', word: 'Embeddings' },
  { type: 'rerank', word: 'Rerank' },
  { type: 'stt', word: 'Speech to text' },
  { type: 'tts', word: 'Text to speech' },
  { type: 'image', word: 'Images' },
];

/** Slots by type, in the order of the types; types without a slot are left out. */
export function byType(
  slots: readonly SlotRecord[],
): { type: SlotTypeName; word: string; slots: SlotRecord[] }[] {
  return TYPES.map((row) => ({ ...row, slots: slots.filter(({ type }) => type === row.type) })).filter(
    (group) => group.slots.length > 0,
  );
}
