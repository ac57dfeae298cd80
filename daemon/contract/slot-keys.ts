/** How a value of a slot setting is written: `duration` is seconds or a text like "15 min". */
export type SlotKeyKind = 'flag' | 'number' | 'text' | 'duration';

export interface SlotKeyRow {
  readonly kind: SlotKeyKind;
  readonly help: string;
}

const row = (kind: SlotKeyKind, help: string): SlotKeyRow => ({ kind, help });

/** THE keys of a slot file that a request may set, in plain words, for forms, help and completion (schema: `SlotSettings`). */
export const SLOT_KEYS: Readonly<Record<string, SlotKeyRow>> = {
  enabled: row('flag', 'Whether the slot may be used'),
  type: row('text', 'llm, embedding, rerank, stt, tts or image'),
  engine: row('text', 'What serves the model'),
  model: row('text', 'Id of a registered model'),
  device: row('text', 'auto, cpu, cuda:N, rocm:N, vulkan:N or npu'),
  context: row('number', 'Window of one request in tokens'),
  parallel: row('number', 'Requests served at once'),
  autoload: row('flag', 'Load at the start of the gateway'),
  pinned: row('flag', 'Never unloaded for another slot'),
  priority: row('number', 'Higher ones stay loaded longer'),
  idle_unload: row('duration', 'Unload after this time without a request; 0 = never'),
  enable_thinking: row('flag', 'Default of enable_thinking for chat'),
  'voice.voice': row('text', 'Default voice of a tts slot'),
  'voice.speed': row('number', 'Default speed of a tts slot'),
  'voice.response_format': row('text', 'Default format of a tts slot'),
};
