import { z } from 'zod';

const loose = z.looseObject;
const word = z.string();

const text = loose({ type: z.literal('text'), text: word });
/** A list of blocks; a string is one text block. */
const blocks = <T extends z.ZodType>(block: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? [{ type: 'text', text: value }] : value),
    z.array(block, { error: 'must be a string or a list of blocks' }),
  );
const source = z.discriminatedUnion(
  'type',
  [
    loose({ type: z.literal('base64'), media_type: word, data: word }),
    loose({ type: z.literal('url'), url: word }),
  ],
  { error: 'must be base64 or url; this gateway stores no files' },
);
const image = loose({ type: z.literal('image'), source });
const textDocument = loose({
  type: z.literal('document'),
  title: z.string().nullish(),
  source: loose({
    type: z.literal('text', { error: 'only documents of plain text are read' }),
    data: word,
  }),
});
const resultBlock = z.discriminatedUnion('type', [text, image, textDocument], {
  error: 'results may contain text, images and text documents',
});
const toolResult = loose({
  type: z.literal('tool_result'),
  tool_use_id: word,
  content: blocks(resultBlock).optional(),
});
const toolUse = loose({ type: z.literal('tool_use'), id: word, name: word, input: z.unknown() });
const thinking = loose({ type: z.literal('thinking'), thinking: word });
const redacted = loose({ type: z.literal('redacted_thinking') });

const userBlock = z.discriminatedUnion('type', [text, image, textDocument, toolResult], {
  error: 'blocks of a user are text, image, document (plain text) and tool_result',
});
const assistantBlock = z.discriminatedUnion('type', [text, thinking, redacted, toolUse], {
  error: 'blocks of an assistant are text, thinking, redacted_thinking and tool_use',
});

const message = z.discriminatedUnion(
  'role',
  [
    loose({ role: z.literal('user'), content: blocks(userBlock) }),
    loose({ role: z.literal('assistant'), content: blocks(assistantBlock) }),
    loose({ role: z.literal('system'), content: blocks(text) }),
  ],
  { error: 'the role must be user, assistant or system' },
);

const tool = loose({
  type: z.string().nullish(),
  name: word.min(1),
  description: z.string().nullish(),
  input_schema: loose({}).nullish(),
  strict: z.boolean().nullish(),
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
  system: blocks(text).optional(),
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
