import type { SlotRecord, SlotTypeName } from '../../../daemon/contract/slots.ts';

/** Slot types with their labels, in display order. */
export const TYPES: readonly { type: SlotTypeName; word: string }[] = [
  { type: 'llm', word: 'Chat' },
  { type: 'embedding', word: 'Embeddings' },
  { type: 'rerank', word: 'Reranking' },
  { type: 'stt', word: 'Speech to text' },
  { type: 'tts', word: 'Text to speech' },
  { type: 'image', word: 'Images' },
];

/** Groups slots by type in display order; omits empty groups. */
export function byType(
  slots: readonly SlotRecord[],
): { type: SlotTypeName; word: string; slots: SlotRecord[] }[] {
  return TYPES.map((row) => ({ ...row, slots: slots.filter(({ type }) => type === row.type) })).filter(
    (group) => group.slots.length > 0,
  );
}
