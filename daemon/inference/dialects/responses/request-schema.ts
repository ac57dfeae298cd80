import { z } from 'zod';
import { asObject, type Json } from '../json.ts';
import { readableItem, readablePart } from './unreadable.ts';

const loose = z.looseObject;
const text = z.string();

/** What only a provider can read, as `unreadable.ts` wraps it. */
const unreadable = z.object({ type: z.literal('svc_unreadable'), original: z.custom<Json>() });
const inputText = loose({
  type: z.enum(['input_text', 'output_text', 'text', 'reasoning_text', 'summary_text']),
  text,
});
const inputImage = loose({
  type: z.literal('input_image'),
  image_url: z.string(),
  detail: z.string().nullish(),
});
const refusal = loose({ type: z.literal('refusal'), refusal: text });
const part = z.preprocess(
  readablePart,
  z.discriminatedUnion('type', [inputText, inputImage, refusal, unreadable], {
    error: 'must be a part with a type',
  }),
);
const content = z.preprocess(
  (value) => (typeof value === 'string' ? [{ type: 'input_text', text: value }] : value),
  z.array(part, { error: 'must be a string or a list of parts' }),
);

const message = loose({
  type: z.literal('message').optional(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content,
});
const namespace = z.string().nullish();
/** Clients leave it out for a call without arguments. */
const callText = text.nullish().transform((value) => value ?? '');
const call = loose({
  type: z.literal('function_call'),
  call_id: text,
  name: text,
  namespace,
  arguments: callText,
});
const output = loose({ type: z.literal('function_call_output'), call_id: text, output: content });
const customCall = loose({
  type: z.literal('custom_tool_call'),
  call_id: text,
  name: text,
  namespace,
  input: callText,
});
const customOutput = loose({ type: z.literal('custom_tool_call_output'), call_id: text, output: content });
const thought = loose({ text });
const reasoning = loose({
  type: z.literal('reasoning'),
  content: z.array(thought).nullish(),
  summary: z.array(thought).nullish(),
});

/** A tool; `tools.ts` reads its other fields. */
const tool = loose({ type: text, name: z.string().nullish(), defer_loading: z.boolean().nullish() });
export type ResponseTool = z.infer<typeof tool>;

const tools = z.array(tool);
const moreTools = loose({ type: z.literal('additional_tools'), tools });
/** Without an id, a provider ran the search. */
const searchId = z.string().nullish();
const search = loose({
  type: z.literal('tool_search_call'),
  call_id: searchId,
  arguments: z.unknown().optional(),
});
const found = loose({ type: z.literal('tool_search_output'), call_id: searchId, tools });

const action = loose({});
const localShellCall = loose({
  type: z.literal('local_shell_call'),
  id: searchId,
  call_id: searchId,
  action,
});
const localShellOutput = loose({
  type: z.literal('local_shell_call_output'),
  id: searchId,
  call_id: searchId,
  output: text,
});
const shellCall = loose({ type: z.literal('shell_call'), call_id: text, action });
const shellOutput = loose({
  type: z.literal('shell_call_output'),
  call_id: text,
  output: z.union([text, z.array(loose({}))]),
});
const patchCall = loose({ type: z.literal('apply_patch_call'), call_id: text, operation: loose({}) });
const patchOutput = loose({
  type: z.literal('apply_patch_call_output'),
  call_id: text,
  output: text.nullish(),
});
const reference = loose({ type: z.literal('item_reference'), id: text });

const KINDS = { call, output, customCall, customOutput, reasoning, moreTools, search, found };
/** The types of items that a caller writes. */
export const ITEM_TYPES = ['message', ...Object.values(KINDS).map((kind) => kind.shape.type.value)].join(
  ', ',
);

/** One item of `input`; a message may omit its type. */
export const inputItem = z.preprocess(
  readableItem,
  z.discriminatedUnion(
    'type',
    [
      message.extend({ type: z.literal('message') }),
      call,
      output,
      customCall,
      customOutput,
      reasoning,
      moreTools,
      search,
      found,
      localShellCall,
      localShellOutput,
      shellCall,
      shellOutput,
      patchCall,
      patchOutput,
      reference,
      unreadable,
    ],
    { error: `items must be one of: ${ITEM_TYPES}` },
  ),
);
export type InputItem = z.infer<typeof inputItem>;
export type Content = z.infer<typeof content>;

const format = z.discriminatedUnion(
  'type',
  [
    loose({ type: z.literal('text') }),
    loose({ type: z.literal('json_object') }),
    loose({
      type: z.literal('json_schema'),
      name: text,
      schema: loose({}),
      strict: z.boolean().nullish(),
      description: z.string().nullish(),
    }),
  ],
  { error: 'the type must be text, json_object or json_schema' },
);

/** An object of strings, checked as one: the record type of the validator creates one issue per entry. */
const texts = z.custom<Readonly<Record<string, string>>>(
  (value) => {
    const object = asObject(value);
    return object !== undefined && Object.values(object).every((one) => typeof one === 'string');
  },
  { error: 'must be an object of texts' },
);

/** `POST /v1/responses`, as far as it is read; other fields pass. */
export const responsesBody = loose({
  model: z.string().nullish(),
  input: z.preprocess(
    (value) => (typeof value === 'string' ? [{ role: 'user', content: value }] : value),
    z.array(inputItem, { error: 'must be a string or a list of items' }),
  ),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  tools: tools.nullish(),
  tool_choice: z.union([text, loose({ type: text })]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: loose({ format: format.nullish(), verbosity: z.string().nullish() }).nullish(),
  reasoning: loose({ effort: z.string().nullish(), summary: z.string().nullish() }).nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_logprobs: z.int().nullish(),
  include: z.array(text).nullish(),
  metadata: texts.nullish(),
  store: z.boolean().nullish(),
  background: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.unknown().optional(),
  prompt: z.unknown().optional(),
  truncation: z.string().nullish(),
});
export type ResponsesBody = z.infer<typeof responsesBody>;
