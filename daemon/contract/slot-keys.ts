/** How a value of a slot setting is written: `duration` is seconds or a text like "15 min". */
export type SlotKeyKind = 'flag' | 'number' | 'text' | 'duration';

export interface SlotKeyRow {
  readonly kind: SlotKeyKind;
  readonly help: string;
}

const row = (kind: SlotKeyKind, help: string): SlotKeyRow => ({ kind, help });

/**
 * Keys of a slot file that a request may set, with plain descriptions for forms, help and completion (schema:
 * `SlotSettings`).
 */
export const SLOT_KEYS: Readonly<Record<string, SlotKeyRow>> = {
  enabled: row('flag', 'Whether the slot accepts requests'),
  type: row('text', 'llm, embedding, rerank, stt, tts or image'),
  engine: row('text', 'Engine that runs the model'),
  model: row('text', 'Id of an installed model'),
  device: row('text', 'auto, cpu, cuda:N, rocm:N, vulkan:N or npu'),
  context: row('number', 'Context length (tokens per request)'),
  parallel: row('number', 'Requests served at the same time'),
  autoload: row('flag', 'Load when the gateway starts'),
  pinned: row('flag', 'Never unload to make room for another slot'),
  priority: row('number', 'Slots with a higher priority stay loaded longer'),
  idle_unload: row('duration', 'Unload after this time without requests; 0 = never'),
  enable_thinking: row('flag', 'Let the model think by default'),
  'voice.voice': row('text', 'Default voice of a tts slot'),
  'voice.speed': row('number', 'Default speed of a tts slot'),
  'voice.response_format': row('text', 'Default format of a tts slot'),
};
