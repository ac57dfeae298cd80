import * as fc from 'fast-check';

/** The tool that clients of live voice declare. */
export const TOOL = { name: 'get_time', args: { zone: 'UTC' } };
export const TOOLS = [
  {
    type: 'function',
    name: TOOL.name,
    parameters: { type: 'object', properties: { zone: { type: 'string' } } },
  },
];
/** Longer than the silence that ends a turn. */
export const SILENCE = Buffer.alloc(48 * 700);

const text = fc.constantFrom('hello', 'a', '', '\u0000', 'é');
const id = fc.constantFrom('item_none', 'mine', 'root');
/** Anything a client may send: valid and invalid events, other text (`raw`), and speech (`voice`). */
export const anyEvent = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'voice' }) },
  fc.constant({ type: 'input_audio_buffer.append', audio: SILENCE.toString('base64') }),
  fc.constant({ type: 'input_audio_buffer.commit' }),
  fc.constant({ type: 'input_audio_buffer.clear' }),
  { weight: 3, arbitrary: fc.constant({ type: 'response.create' }) },
  fc.constant({ type: 'response.create', response: { output_modalities: ['text'], tools: TOOLS } }),
  fc.constant({ type: 'response.cancel' }),
  fc.record({ type: fc.constant('conversation.item.delete'), item_id: id }),
  fc.record({
    type: fc.constant('conversation.item.truncate'),
    item_id: id,
    content_index: fc.nat(2),
    audio_end_ms: fc.nat(999),
  }),
  text.map((content) => ({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: content }] },
  })),
  fc
    .constantFrom(null, { type: 'server_vad' }, { type: 'server_vad', interrupt_response: false })
    .map((turnDetection) => ({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { turn_detection: turnDetection, transcription: {} } } },
    })),
  fc.anything().map((value) => ({ type: 'session.update', session: value })),
  fc.json().map((value) => ({ raw: value })),
);
