import type { RouteId } from '../contract/routes.ts';

/** JSON Schema, as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** How a route of `/v1` is described. Fields that are not listed pass to the engine. */
export interface V1Document {
  /** Media type → schema of the request body. */
  readonly request: Readonly<Record<string, JsonSchema>>;
  /** Media type → schema of the answer with status 200. */
  readonly answer: Readonly<Record<string, JsonSchema>>;
}

const text = { type: 'string' };
const number = { type: 'number' };
const whole = { type: 'integer' };
const flag = { type: 'boolean' };
const anything = {};
const list = (items: JsonSchema, more: JsonSchema = {}) => ({ type: 'array', items, ...more });
const oneOf = (...values: readonly string[]) => ({ type: 'string', enum: values });
const constant = (value: string) => ({ type: 'string', const: value });
/** An optional field may be null, which means that it is absent. */
const optional = (schema: JsonSchema) => ({ anyOf: [schema, { type: 'null' }] });
const object = (properties: JsonSchema, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const optionals = (fields: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, optional(schema)]));

const JSON_TYPE = 'application/json';
export const EVENTS = 'text/event-stream';
/** One event of a stream. The end of an OpenAI stream has `[DONE]` as its data. */
export const EVENT: JsonSchema = {
  type: 'object',
  properties: { event: text, data: text },
  required: ['data'],
};
const asJson = (schema: JsonSchema) => ({ [JSON_TYPE]: schema });
/** Answers that are a stream with `stream: true`. */
const streamable = (schema: JsonSchema) => ({ [JSON_TYPE]: schema, [EVENTS]: EVENT });

const model = {
  type: 'string',
  minLength: 1,
  description: 'Name of a slot, id or alias of a model, or a virtual name such as svc/agent.',
};
const usage = object({ prompt_tokens: whole, completion_tokens: whole, total_tokens: whole });

const SAMPLING = optionals({
  temperature: number,
  top_p: number,
  top_k: whole,
  min_p: number,
  seed: whole,
  stop: { anyOf: [text, list(text)] },
  presence_penalty: number,
  frequency_penalty: number,
  logit_bias: { type: 'object', additionalProperties: number },
  stream: flag,
  stream_options: object({ include_usage: flag }),
  n: whole,
  user: text,
});

const toolCall = object(
  {
    id: text,
    type: constant('function'),
    function: object({ name: text, arguments: text }, ['name', 'arguments']),
  },
  ['function'],
);
const chatMessage = object(
  {
    role: oneOf('system', 'developer', 'user', 'assistant', 'tool', 'function'),
    content: { anyOf: [text, list(object({ type: text }, ['type'])), { type: 'null' }] },
    ...optionals({ name: text, tool_call_id: text, tool_calls: list(toolCall), reasoning_content: text }),
  },
  ['role'],
);
const functionTool = object(
  {
    type: constant('function'),
    function: object(
      { name: text, ...optionals({ description: text, parameters: { type: 'object' }, strict: flag }) },
      ['name'],
    ),
  },
  ['type', 'function'],
);
const chatRequest = object(
  {
    model: optional(model),
    messages: list(chatMessage, { minItems: 1 }),
    ...SAMPLING,
    ...optionals({
      max_tokens: whole,
      max_completion_tokens: whole,
      tools: list(functionTool),
      tool_choice: { anyOf: [oneOf('none', 'auto', 'required'), { type: 'object' }] },
      parallel_tool_calls: flag,
      response_format: object({ type: oneOf('text', 'json_object', 'json_schema') }, ['type']),
      logprobs: flag,
      top_logprobs: whole,
      reasoning_effort: text,
      enable_thinking: flag,
      chat_template_kwargs: { type: 'object' },
      omni: flag,
    }),
  },
  ['messages'],
);
const chatAnswer = object(
  {
    id: text,
    object: constant('chat.completion'),
    created: whole,
    model: text,
    choices: list(object({ index: whole, message: { type: 'object' }, finish_reason: optional(text) })),
    usage,
  },
  ['choices'],
);

const completionRequest = object(
  {
    model: optional(model),
    prompt: { anyOf: [text, list(text), list(whole), list(list(whole))] },
    ...SAMPLING,
    ...optionals({ max_tokens: whole, suffix: text, echo: flag, logprobs: { anyOf: [whole, flag] } }),
  },
  ['prompt'],
);
const completionAnswer = object(
  {
    id: text,
    object: constant('text_completion'),
    created: whole,
    model: text,
    choices: list(object({ index: whole, text, finish_reason: optional(text) })),
    usage,
  },
  ['choices'],
);

const embeddingsRequest = object(
  {
    model: optional(model),
    input: { anyOf: [text, list(text), list(whole), list(list(whole))] },
    ...optionals({ encoding_format: oneOf('float', 'base64'), dimensions: whole, user: text }),
  },
  ['input'],
);
const embeddingsAnswer = object(
  {
    object: constant('list'),
    model: text,
    data: list(
      object({ object: constant('embedding'), index: whole, embedding: { anyOf: [list(number), text] } }, [
        'index',
        'embedding',
      ]),
    ),
    usage,
  },
  ['data'],
);

const rerankRequest = object(
  {
    model: optional(model),
    query: text,
    documents: list({ anyOf: [text, object({ text }, ['text'])] }),
    ...optionals({ top_n: whole, return_documents: flag }),
  },
  ['query', 'documents'],
);
const rerankAnswer = object(
  {
    object: text,
    model: text,
    results: list(
      object({ index: whole, relevance_score: number, document: anything }, ['index', 'relevance_score']),
    ),
    usage: { type: 'object' },
  },
  ['results'],
);
const rerank = { request: asJson(rerankRequest), answer: asJson(rerankAnswer) };

const scoreSide = { anyOf: [text, list(text), anything] };
const scoreRequest = object(
  {
    model: optional(model),
    text_1: scoreSide,
    text_2: scoreSide,
    ...optionals({
      data_1: scoreSide,
      data_2: scoreSide,
      queries: scoreSide,
      documents: scoreSide,
      items: scoreSide,
    }),
  },
  [],
);
const scoreAnswer = object(
  {
    object: constant('list'),
    model: text,
    data: list(object({ object: constant('score'), index: whole, score: number }, ['index', 'score'])),
    usage: { type: 'object' },
  },
  ['data'],
);

const speechRequest = object(
  {
    model,
    input: { type: 'string', minLength: 1, maxLength: 4096 },
    voice: { anyOf: [text, object({ id: text }, ['id']), { type: 'null' }] },
    ...optionals({
      response_format: oneOf('mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'),
      speed: { type: 'number', minimum: 0.25, maximum: 4 },
      instructions: text,
      stream_format: oneOf('audio', 'sse'),
    }),
  },
  ['model', 'input'],
);
const SOUND_TYPES = ['mpeg', 'ogg', 'aac', 'flac', 'wav', 'pcm'].map((type) => `audio/${type}`);
const binary = { type: 'string', contentMediaType: 'application/octet-stream' };
const sound = Object.fromEntries(SOUND_TYPES.map((type) => [type, binary]));

const transcriptionRequest = object(
  {
    file: binary,
    model,
    language: text,
    prompt: text,
    response_format: oneOf('json', 'text', 'srt', 'verbose_json', 'vtt'),
    temperature: number,
    stream: flag,
    'timestamp_granularities[]': list(oneOf('word', 'segment')),
  },
  ['file', 'model'],
);

const imageRequest = object(
  {
    prompt: { type: 'string', minLength: 1, maxLength: 32_000 },
    model: optional(model),
    ...optionals({
      n: { type: 'integer', minimum: 1, maximum: 8 },
      size: text,
      response_format: oneOf('url', 'b64_json'),
      negative_prompt: text,
      seed: whole,
      steps: whole,
      cfg: number,
      user: text,
    }),
  },
  ['prompt'],
);
const imageAnswer = object({ created: whole, data: list({ type: 'object' }) }, ['created', 'data']);

const responsesRequest = object(
  {
    model: optional(model),
    input: { anyOf: [text, list({ type: 'object' })] },
    ...optionals({
      instructions: text,
      stream: flag,
      tools: list(object({ type: text }, ['type'])),
      tool_choice: { anyOf: [text, object({ type: text }, ['type'])] },
      parallel_tool_calls: flag,
      text: { type: 'object' },
      reasoning: object(optionals({ effort: text, summary: text })),
      max_output_tokens: { type: 'integer', minimum: 1 },
      temperature: number,
      top_p: number,
      metadata: { type: 'object', additionalProperties: text },
      store: flag,
      previous_response_id: text,
    }),
  },
  ['input'],
);
const responsesAnswer = object(
  {
    id: text,
    object: constant('response'),
    status: text,
    output: list({ type: 'object' }),
    usage: { type: 'object' },
  },
  ['id', 'object', 'status', 'output'],
);

const MESSAGES_FIELDS = {
  model: optional(model),
  messages: list(
    object(
      {
        role: oneOf('user', 'assistant', 'system'),
        content: { anyOf: [text, list(object({ type: text }, ['type']))] },
      },
      ['role', 'content'],
    ),
    { minItems: 1 },
  ),
  system: { anyOf: [text, list(object({ type: constant('text'), text }, ['type', 'text']))] },
  ...optionals({
    tools: list({ type: 'object' }),
    tool_choice: object({ type: oneOf('auto', 'any', 'tool', 'none'), name: text }, ['type']),
    thinking: object({ type: oneOf('enabled', 'disabled', 'adaptive') }, ['type']),
  }),
};
const messagesRequest = object(
  {
    ...MESSAGES_FIELDS,
    max_tokens: { type: 'integer', minimum: 1 },
    ...optionals({
      stream: flag,
      temperature: number,
      top_p: number,
      top_k: whole,
      stop_sequences: list(text),
    }),
  },
  ['messages', 'max_tokens'],
);
const messagesAnswer = object(
  {
    id: text,
    type: constant('message'),
    role: constant('assistant'),
    content: list(object({ type: text }, ['type'])),
    stop_reason: optional(text),
    usage: { type: 'object' },
  },
  ['id', 'type', 'role', 'content'],
);

/** Bodies and answers of the inference routes. The checks of each route are its own. */
export const V1_DOCUMENTS: Partial<Record<RouteId, V1Document>> = {
  'v1.chat': { request: asJson(chatRequest), answer: streamable(chatAnswer) },
  'v1.chat.count': {
    request: asJson(chatRequest),
    answer: asJson(
      object({ object: constant('response.input_tokens'), input_tokens: whole }, ['object', 'input_tokens']),
    ),
  },
  'v1.responses': { request: asJson(responsesRequest), answer: streamable(responsesAnswer) },
  'v1.messages': { request: asJson(messagesRequest), answer: streamable(messagesAnswer) },
  'v1.messages.count': {
    request: asJson(object(MESSAGES_FIELDS, ['messages'])),
    answer: asJson(object({ input_tokens: whole }, ['input_tokens'])),
  },
  'v1.completions': { request: asJson(completionRequest), answer: streamable(completionAnswer) },
  'v1.embeddings': { request: asJson(embeddingsRequest), answer: asJson(embeddingsAnswer) },
  'v1.rerankings': rerank,
  'v1.rerank': rerank,
  'v1.reranking': rerank,
  'v1.score': { request: asJson(scoreRequest), answer: asJson(scoreAnswer) },
  'v1.transcriptions': {
    request: { 'multipart/form-data': transcriptionRequest },
    answer: { [JSON_TYPE]: object({ text }), 'text/plain': text, [EVENTS]: EVENT },
  },
  'v1.speech': { request: asJson(speechRequest), answer: { ...sound, [EVENTS]: EVENT } },
  'v1.images': { request: asJson(imageRequest), answer: streamable(imageAnswer) },
};
