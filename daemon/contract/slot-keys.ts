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
  type: row('text', 'Type of model: llm, embedding, rerank, stt, tts or image'),
  engine: row('text', 'Engine that runs the model'),
  model: row('text', 'Id of an installed model'),
  device: row('text', 'Device that runs the model: auto, cpu, cuda:N, rocm:N, vulkan:N or npu'),
  context: row('number', 'Context length (tokens per request)'),
  parallel: row('number', 'Maximum number of requests served in parallel'),
  autoload: row('flag', 'Load the model when the gateway starts'),
  pinned: row('flag', 'Never unload the model to make room for another slot'),
  priority: row('number', 'When memory is short, slots with a lower priority are unloaded first'),
  idle_unload: row('duration', 'Unload the model after this time without requests; 0 = never'),
  enable_thinking: row(
    'flag',
    'Whether the model reasons before it answers, unless the request says otherwise',
  ),
  'voice.voice': row('text', 'Default voice (tts slots)'),
  'voice.speed': row('number', 'Default speech rate, 1 = normal (tts slots)'),
  'voice.response_format': row('text', 'Default audio format (tts slots)'),
};
