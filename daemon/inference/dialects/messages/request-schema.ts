import { z } from 'zod';
import { type UnreadableBlock, wrapUnreadable } from './unreadable.ts';

const loose = z.looseObject;
const word = z.string();

const text = loose({ type: z.literal('text'), text: word });
/** A list of blocks; a string is one text block. */
const blocks = <T extends z.ZodType>(block: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? [{ type: 'text', text: value }] : value),
    z.array(block, { error: 'must be a string or a list of blocks' }),
  );
const unreadable = z.object({
  type: z.literal('svc_unreadable'),
  block: z.custom<UnreadableBlock['block']>(),
});
/** Blocks of any type: a history may hold types that only a provider can read. */
const anyOf = <T extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]>(
  types: readonly string[],
  options: T,
) => {
  const known = new Set(types);
  return z.preprocess(
    (value) => wrapUnreadable(value, known),
    z.discriminatedUnion('type', [...options, unreadable], { error: 'must be a block with a type' }),
  );
};
const source = z.discriminatedUnion('type', [
  loose({ type: z.literal('base64'), media_type: word, data: word }),
  loose({ type: z.literal('url'), url: word }),
]);
const image = loose({ type: z.literal('image'), source });
const documentSource = z.discriminatedUnion('type', [
  loose({ type: z.literal('text'), data: word }),
  loose({ type: z.literal('content'), content: blocks(anyOf(['text'], [text])) }),
]);
const textDocument = loose({
  type: z.literal('document'),
  title: z.string().nullish(),
  source: documentSource,
});
const searchResult = loose({
  type: z.literal('search_result'),
  title: z.string().nullish(),
  source: z.string().nullish(),
  content: blocks(anyOf(['text'], [text])),
});
const toolReference = loose({ type: z.literal('tool_reference'), tool_name: word });
const resultBlock = anyOf(
  ['text', 'image', 'document', 'search_result', 'tool_reference'],
  [text, image, textDocument, searchResult, toolReference],
);
const toolResult = loose({
  type: z.literal('tool_result'),
  tool_use_id: word,
  content: blocks(resultBlock).nullish(),
});
const toolUse = loose({ type: z.literal('tool_use'), id: word, name: word, input: z.unknown().optional() });
const thinking = loose({ type: z.literal('thinking'), thinking: word });

const userBlock = anyOf(
  ['text', 'image', 'document', 'search_result', 'tool_result'],
  [text, image, textDocument, searchResult, toolResult],
);
const assistantBlock = anyOf(['text', 'thinking', 'tool_use'], [text, thinking, toolUse]);
const systemBlock = anyOf(['text'], [text]);

const message = z.discriminatedUnion(
  'role',
  [
    loose({ role: z.literal('user'), content: blocks(userBlock) }),
    loose({ role: z.literal('assistant'), content: blocks(assistantBlock) }),
    loose({ role: z.literal('system'), content: blocks(systemBlock).nullish() }),
  ],
  { error: 'the role must be user, assistant or system' },
);

const tool = loose({
  type: z.string().nullish(),
  /** Checked where it is needed: tools of a provider may have none. */
  name: z.string().nullish(),
  description: z.string().nullish(),
  input_schema: loose({}).nullish(),
  strict: z.boolean().nullish(),
  defer_loading: z.boolean().nullish(),
});

const toolChoice = loose({
  type: z.enum(['auto', 'any', 'tool', 'none']),
  name: z.string().nullish(),
  disable_parallel_tool_use: z.boolean().nullish(),
});

/** The common fields of `POST /v1/messages` and its count; other fields pass. */
const shared = {
  model: z.string().nullish(),
  messages: z.array(message, { error: 'must be a list of messages' }).min(1),
  system: blocks(text).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: loose({ type: z.enum(['enabled', 'disabled', 'adaptive']) }).nullish(),
  output_config: loose({ effort: z.string().nullish(), format: loose({ type: word }).nullish() }).nullish(),
  output_format: loose({ type: word }).nullish(),
  mcp_servers: z.array(z.unknown()).nullish(),
  container: z.unknown().optional(),
};

export const countBody = loose(shared);
export const messagesBody = loose({
  ...shared,
  max_tokens: z.int().min(1),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.int().nullish(),
  stop_sequences: z.array(word).nullish(),
});

export type CountBody = z.infer<typeof countBody>;
export type MessagesBody = z.infer<typeof messagesBody>;
export type InputMessage = z.infer<typeof message>;
export type UserBlock = z.infer<typeof userBlock>;
export type AssistantBlock = z.infer<typeof assistantBlock>;
export type ResultBlock = z.infer<typeof resultBlock>;
export type SystemBlock = z.infer<typeof systemBlock>;
export type MessageTool = z.infer<typeof tool>;
