import { z } from 'zod';

/**
 * The events of `/v1/realtime` (docs/spec/contract.md#realtime): OpenAI's GA names and shapes, as far as this
 * gateway supports them.
 */

export const AudioFormat = z.union(
  [
    z.object({ type: z.literal('audio/pcm'), rate: z.literal(24_000).default(24_000) }),
    z.object({ type: z.literal('audio/pcmu') }),
    z.object({ type: z.literal('audio/pcma') }),
  ],
  { error: 'must be audio/pcm at 24000, audio/pcmu or audio/pcma' },
);
export type AudioFormat = z.infer<typeof AudioFormat>;

const ServerVad = z.object({
  type: z.literal('server_vad'),
  threshold: z.number().min(0).max(1).optional(),
  prefix_padding_ms: z.int().min(0).max(5_000).optional(),
  silence_duration_ms: z.int().min(60).max(10_000).optional(),
  idle_timeout_ms: z.int().min(1_000).max(600_000).nullish(),
  create_response: z.boolean().optional(),
  interrupt_response: z.boolean().optional(),
});
const SemanticVad = z.object({
  type: z.literal('semantic_vad'),
  eagerness: z.enum(['low', 'medium', 'high', 'auto']).optional(),
  create_response: z.boolean().optional(),
  interrupt_response: z.boolean().optional(),
});
export const TurnDetection = z.discriminatedUnion('type', [ServerVad, SemanticVad]);
export type TurnDetection = z.infer<typeof TurnDetection>;

const Tool = z.object({
  type: z.literal('function'),
  name: z.string().min(1).max(128),
  description: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
});
const ToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), name: z.string() }),
]);
const Modalities = z.tuple([z.enum(['text', 'audio'])]);
const Voice = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);
const MaxTokens = z.union([z.int().min(1), z.literal('inf')]);

const Transcription = z.object({
  model: z.string().optional(),
  language: z.string().optional(),
  prompt: z.string().optional(),
});

/** Fields of `session.update`; absent is unchanged, null is off. Other fields are accepted and ignored. */
export const SessionUpdate = z.object({
  type: z.enum(['realtime', 'transcription']),
  model: z.string().optional(),
  output_modalities: Modalities.optional(),
  instructions: z.string().optional(),
  audio: z
    .object({
      input: z
        .object({
          format: AudioFormat.optional(),
          transcription: Transcription.nullish(),
          turn_detection: TurnDetection.nullish(),
        })
        .optional(),
      output: z
        .object({
          format: AudioFormat.optional(),
          voice: Voice.nullish(),
          speed: z.number().min(0.25).max(4).optional(),
        })
        .optional(),
    })
    .optional(),
  tools: z.array(Tool).max(128).optional(),
  tool_choice: ToolChoice.optional(),
  max_output_tokens: MaxTokens.optional(),
});
export type SessionUpdate = z.infer<typeof SessionUpdate>;

const base64 = z
  .string()
  .refine((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text), 'must be base64');
const InputText = z.object({ type: z.literal('input_text'), text: z.string() });
const InputAudio = z.object({
  type: z.literal('input_audio'),
  audio: base64.optional(),
  transcript: z.string().nullish(),
});
const InputImage = z.object({
  type: z.literal('input_image'),
  image_url: z.string(),
  detail: z.enum(['auto', 'low', 'high']).optional(),
});
const OutputText = z.object({ type: z.enum(['output_text', 'text']), text: z.string() });
const OutputAudio = z.object({
  type: z.enum(['output_audio', 'audio']),
  transcript: z.string().nullish(),
});
const ItemId = z.string().min(1).max(128);
const message = <R extends string, C extends z.ZodType>(role: R, content: C) =>
  z.object({
    type: z.literal('message'),
    id: ItemId.optional(),
    role: z.literal(role),
    content: z.array(content).min(1).max(64),
  });
const UserMessage = message('user', z.discriminatedUnion('type', [InputText, InputAudio, InputImage]));
const SystemMessage = message('system', InputText);
const AssistantMessage = message('assistant', z.union([OutputText, OutputAudio]));

/** An item as a caller may put it into the conversation. */
export const ItemInput = z.union(
  [
    z.discriminatedUnion('role', [UserMessage, SystemMessage, AssistantMessage]),
    z.object({
      type: z.literal('function_call'),
      id: ItemId.optional(),
      call_id: z.string().optional(),
      name: z.string().min(1),
      arguments: z.string(),
    }),
    z.object({
      type: z.literal('function_call_output'),
      id: ItemId.optional(),
      call_id: z.string().min(1),
      output: z.string(),
    }),
  ],
  { error: 'must be a message, a function_call or a function_call_output' },
);
export type ItemInput = z.infer<typeof ItemInput>;

export const ResponseParams = z.object({
  output_modalities: Modalities.optional(),
  instructions: z.string().optional(),
  audio: z
    .object({
      output: z.object({ format: AudioFormat.optional(), voice: Voice.nullish() }).optional(),
    })
    .optional(),
  tools: z.array(Tool).max(128).optional(),
  tool_choice: ToolChoice.optional(),
  max_output_tokens: MaxTokens.optional(),
  conversation: z.enum(['auto', 'none']).optional(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  input: z
    .array(z.union([z.object({ type: z.literal('item_reference'), id: ItemId }), ItemInput]))
    .max(512)
    .optional(),
});
export type ResponseParams = z.infer<typeof ResponseParams>;

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), event_id: z.string().max(512).optional(), ...shape });

/** What a caller may send. */
export const CLIENT_EVENTS = {
  'session.update': event('session.update', { session: SessionUpdate }),
  'input_audio_buffer.append': event('input_audio_buffer.append', { audio: base64 }),
  'input_audio_buffer.commit': event('input_audio_buffer.commit', {}),
  'input_audio_buffer.clear': event('input_audio_buffer.clear', {}),
  'conversation.item.create': event('conversation.item.create', {
    item: ItemInput,
    previous_item_id: z.string().nullish(),
  }),
  'conversation.item.retrieve': event('conversation.item.retrieve', { item_id: ItemId }),
  'conversation.item.truncate': event('conversation.item.truncate', {
    item_id: ItemId,
    content_index: z.int().min(0),
    audio_end_ms: z.int().min(0),
  }),
  'conversation.item.delete': event('conversation.item.delete', { item_id: ItemId }),
  'response.create': event('response.create', { response: ResponseParams.nullish() }),
  'response.cancel': event('response.cancel', { response_id: z.string().nullish() }),
} as const;

type ClientEvents = { [K in keyof typeof CLIENT_EVENTS]: z.infer<(typeof CLIENT_EVENTS)[K]> };
export type ClientEventType = keyof ClientEvents;
export type ClientEvent<T extends ClientEventType = ClientEventType> = ClientEvents[T];

/** Events that the gateway sends. The session keeps their order. */
export const SERVER_EVENTS = [
  'session.created',
  'session.updated',
  'error',
  'conversation.item.added',
  'conversation.item.done',
  'conversation.item.retrieved',
  'conversation.item.truncated',
  'conversation.item.deleted',
  'conversation.item.input_audio_transcription.delta',
  'conversation.item.input_audio_transcription.completed',
  'conversation.item.input_audio_transcription.failed',
  'input_audio_buffer.speech_started',
  'input_audio_buffer.speech_stopped',
  'input_audio_buffer.committed',
  'input_audio_buffer.cleared',
  'input_audio_buffer.timeout_triggered',
  'response.created',
  'response.output_item.added',
  'response.content_part.added',
  'response.output_text.delta',
  'response.output_text.done',
  'response.output_audio.delta',
  'response.output_audio.done',
  'response.output_audio_transcript.delta',
  'response.output_audio_transcript.done',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'response.content_part.done',
  'response.output_item.done',
  'response.done',
] as const;
export type ServerEventType = (typeof SERVER_EVENTS)[number];

export interface ServerEvent {
  readonly type: ServerEventType;
  readonly event_id: string;
  readonly [field: string]: unknown;
}

/** The `error` inside an error event. */
export interface RealtimeError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** Of the caller's event that caused it. */
  readonly event_id: string | null;
}
