import type { ResponseStreamEvent } from 'openai/resources/responses/responses';

const ITEM = ['item_id', 'output_index'];
const PART = [...ITEM, 'content_index'];

/** The fields that OpenAI's description requires of each event, beside `type` and `sequence_number`. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'response.created': ['response'],
  'response.in_progress': ['response'],
  'response.completed': ['response'],
  'response.incomplete': ['response'],
  'response.failed': ['response'],
  'response.output_item.added': ['output_index', 'item'],
  'response.output_item.done': ['output_index', 'item'],
  'response.content_part.added': [...PART, 'part'],
  'response.content_part.done': [...PART, 'part'],
  'response.output_text.delta': [...PART, 'delta', 'logprobs'],
  'response.output_text.done': [...PART, 'text', 'logprobs'],
  'response.refusal.delta': [...PART, 'delta'],
  'response.refusal.done': [...PART, 'refusal'],
  'response.reasoning_text.delta': [...PART, 'delta'],
  'response.reasoning_text.done': [...PART, 'text'],
  'response.function_call_arguments.delta': [...ITEM, 'delta'],
  'response.function_call_arguments.done': [...ITEM, 'arguments', 'name'],
  'response.custom_tool_call_input.delta': [...ITEM, 'delta'],
  'response.custom_tool_call_input.done': [...ITEM, 'input'],
  error: ['code', 'message', 'param'],
};

/** The same of a response; `usage` is an object where it is there. */
const RESPONSE = [
  ...[
    'id',
    'object',
    'created_at',
    'error',
    'incomplete_details',
    'instructions',
    'model',
    'tools',
    'output',
  ],
  ...['parallel_tool_calls', 'metadata', 'tool_choice', 'temperature', 'top_p'],
];

const missing = (value: object, fields: readonly string[]): string[] =>
  fields.filter((field) => !(field in value) || value[field as never] === undefined);

/** What one event lacks of the published shape, in words. */
export function faultsOf(event: ResponseStreamEvent): string[] {
  const fields = FIELDS[event.type];
  if (!fields) return [`${event.type} is no known event`];
  const own = missing(event, [...fields, 'sequence_number']);
  const response = 'response' in event ? missing(event.response, RESPONSE) : [];
  const usage = 'response' in event && event.response.usage === null ? ['usage'] : [];
  return [...own, ...response, ...usage].map((field) => `${event.type} lacks ${field}`);
}
