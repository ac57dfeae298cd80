/**
 * The pair of engines that gets a request: a chat model; a chat model whose template allows a forced call (`plain`); an embedding
 * model; reranking models with plain input, with separators, and with a template.
 */
export type Pair = 'chat' | 'plain' | 'vectors' | 'ranks' | 'closed' | 'judge';

export interface Case {
  readonly name: string;
  /** The row of the table that lists its differences. */
  readonly where: string;
  readonly pair: Pair;
  readonly path: string;
  /** An object is sent as JSON with the model of the pair; a string is sent unchanged. */
  readonly body: object | string;
}

const CHAT = '/v1/chat/completions';
const textPart = (text: string) => ({ type: 'text', text });
const TEXT = '/v1/completions';
const EMBEDDINGS = '/v1/embeddings';
const RERANK = '/v1/rerank';

const user = (content: unknown) => ({ role: 'user', content });
const greedy = { temperature: 0, max_tokens: 24 };
const hi = { messages: [user('Hi!')], ...greedy };
const streamed = { stream: true, stream_options: { include_usage: true } };

const zone = { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] };
const tools = [
  { type: 'function', function: { name: 'get_time', description: 'Tells the time', parameters: zone } },
];
const named = { type: 'function', function: { name: 'get_time' } };
const call = { id: 'call_1', type: 'function', function: { name: 'get_time', arguments: '{"zone":"UTC"}' } };
const turn2 = [
  user('What time is it?'),
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', content: '12:00' },
];
const person = {
  type: 'object',
  properties: { a: { type: 'string' }, n: { type: 'integer' } },
  required: ['a', 'n'],
  additionalProperties: false,
};
const schema = {
  response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: person } },
};

/** Texts of words that the embedding and reranking models know. */
const CAT = 'the cat sat on the mat';
const FAR = 'quantum flux xylophone';
const documents = [FAR, CAT, 'a dog barks'];
const LONG = 'x'.repeat(700);

const rows = (where: string, pair: Pair, path: string, bodies: Record<string, object | string>): Case[] =>
  Object.entries(bodies).map(([name, body]) => ({ name: `${where}: ${name}`, where, pair, path, body }));

/** Returns the same cases plain and streamed. */
const both = (where: string, pair: Pair, path: string, bodies: Record<string, object>): Case[] => [
  ...rows(where, pair, path, bodies),
  ...rows(
    `${where}, streamed`,
    pair,
    path,
    Object.fromEntries(Object.entries(bodies).map(([name, body]) => [name, { ...body, ...streamed }])),
  ),
];

/** Requests that both engines answer alike, apart from the listed differences. */
const GOOD: readonly Case[] = [
  ...both('chat', 'chat', CHAT, {
    plain: hi,
    'system message': { ...greedy, messages: [{ role: 'system', content: 'Be brief.' }, user('Hi!')] },
    'text parts': { ...greedy, messages: [user([{ type: 'text', text: 'Hi!' }])] },
    'several text parts': { ...greedy, messages: [user(['', 'Hi!', '', 'You!'].map(textPart))] },
    'developer role': { ...greedy, messages: [{ role: 'developer', content: 'Be brief.' }, user('Hi!')] },
    'cut by max_tokens': { ...hi, max_tokens: 3 },
    max_completion_tokens: { messages: [user('Hi!')], temperature: 0, max_completion_tokens: 2 },
    'one stop string': { ...hi, stop: 'tiny' },
    'stop strings over pieces': { ...hi, stop: ['nowhere', 'the tiny mo'] },
    'unknown fields': { ...hi, user: 'me', metadata: { a: 'b' }, store: true, parallel_tool_calls: true },
  }),
  ...both('chat with logprobs', 'chat', CHAT, {
    'without alternatives': { ...hi, logprobs: true },
    'with alternatives': { ...hi, logprobs: true, top_logprobs: 1, max_tokens: 2 },
  }),
  ...both('chat with tools', 'chat', CHAT, {
    'a call': { ...greedy, messages: [user('What time is it?')], tools },
    'tool_choice auto': { ...greedy, messages: [user('What time is it?')], tools, tool_choice: 'auto' },
    'second turn': { ...greedy, messages: turn2, tools },
    'tool_choice none': { ...greedy, messages: turn2, tools, tool_choice: 'none' },
  }),
  ...both('chat with a forced call', 'plain', CHAT, {
    required: { ...greedy, messages: [user('Time?')], tools, tool_choice: 'required', max_tokens: 160 },
    'by name': { ...greedy, messages: [user('Time?')], tools, tool_choice: named, max_tokens: 160 },
  }),
  ...both('chat with a schema', 'chat', CHAT, {
    json_schema: { ...hi, ...schema, max_tokens: 60 },
    json_object: { ...hi, response_format: { type: 'json_object' }, max_tokens: 2 },
    text: { ...hi, response_format: { type: 'text' } },
  }),
  ...rows('chat, several choices', 'chat', CHAT, { 'n 2': { ...hi, n: 2 } }),
  ...rows('chat, streamed without usage', 'chat', CHAT, { plain: { ...hi, stream: true } }),
  ...both('completions', 'chat', TEXT, {
    plain: { ...greedy, prompt: 'abc', max_tokens: 5 },
    'up to the end': { ...greedy, prompt: 'Hi!' },
    'one stop string': { ...greedy, prompt: 'abc', stop: 'gh' },
    'tokens as prompt': { ...greedy, prompt: [97, 98], max_tokens: 3 },
    'a bias against the likeliest': { ...greedy, prompt: 'abc', max_tokens: 1, logit_bias: { 100: -100 } },
  }),
  ...rows('completions with logprobs', 'chat', TEXT, {
    'two alternatives': { ...greedy, prompt: 'abc', max_tokens: 2, logprobs: 2 },
  }),
  ...rows('completions, several prompts', 'chat', TEXT, {
    two: { ...greedy, prompt: ['abc', '12'], max_tokens: 3 },
  }),
  ...rows('completions, streamed without usage', 'chat', TEXT, {
    plain: { ...greedy, prompt: 'abc', max_tokens: 5, stream: true },
  }),
  ...rows('embeddings', 'vectors', EMBEDDINGS, {
    float: { input: CAT, encoding_format: 'float' },
    base64: { input: CAT, encoding_format: 'base64' },
    several: { input: [CAT, FAR] },
    tokens: { input: [[100, 101, 102]] },
  }),
  ...rows('rerank', 'ranks', RERANK, {
    all: { query: 'cat on mat', documents },
    top_n: { query: 'cat on mat', documents, top_n: 1 },
  }),
  ...rows('rerank, closed', 'closed', RERANK, { all: { query: 'cat on mat', documents } }),
  ...rows('rerank, by a template', 'judge', RERANK, { all: { query: 'cat on mat', documents } }),
];

/** Requests that at least one engine refuses. */
const BAD: readonly Case[] = [
  ...rows('error: body that is no JSON', 'chat', CHAT, { chat: '{"messages":' }),
  ...rows('error: body that is no object', 'chat', CHAT, { chat: '[]' }),
  ...rows('error: no messages', 'chat', CHAT, { chat: { ...greedy } }),
  ...rows('error: messages are no array', 'chat', CHAT, { chat: { messages: 'hi' } }),
  ...rows('error: messages are empty', 'chat', CHAT, { chat: { ...greedy, messages: [] } }),
  ...rows('error: a message is no object', 'chat', CHAT, { chat: { messages: ['hi'] } }),
  ...rows('error: prompt too long for the window', 'chat', CHAT, {
    chat: { ...greedy, messages: [user(LONG)] },
    streamed: { ...greedy, ...streamed, messages: [user(LONG)] },
  }),
  ...rows('error: completion too long for the window', 'chat', TEXT, {
    completions: { ...greedy, prompt: LONG },
  }),
  ...rows('error: temperature of another type', 'chat', CHAT, { chat: { ...hi, temperature: 'hot' } }),
  ...rows('error: tools are no array', 'chat', CHAT, { chat: { ...hi, tools: 'all' } }),
  ...rows('error: unknown tool_choice', 'chat', CHAT, { chat: { ...hi, tools, tool_choice: 'perhaps' } }),
  ...rows('error: unknown response_format', 'chat', CHAT, {
    chat: { ...hi, response_format: { type: 'xml' } },
  }),
  ...rows('error: top_logprobs without logprobs', 'chat', CHAT, { chat: { ...hi, top_logprobs: 2 } }),
  ...rows('error: an image for a text model', 'chat', CHAT, {
    chat: {
      ...hi,
      messages: [user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }])],
    },
  }),
  ...rows('error: a bias on the end token', 'chat', CHAT, { chat: { ...hi, logit_bias: { 259: 1 } } }),
  ...rows('error: completion without a prompt', 'chat', TEXT, { completions: { ...greedy } }),
  ...rows('error: embeddings of a chat model', 'chat', EMBEDDINGS, { embeddings: { input: CAT } }),
  ...rows('error: chat of an embedding model', 'vectors', CHAT, { chat: hi }),
  ...rows('error: embeddings without input', 'vectors', EMBEDDINGS, { embeddings: {} }),
  ...rows('error: embeddings of an empty text', 'vectors', EMBEDDINGS, { embeddings: { input: '' } }),
  ...rows('error: text too long to embed', 'vectors', EMBEDDINGS, {
    embeddings: { input: 'the cat '.repeat(400) },
  }),
  ...rows('error: unknown encoding_format', 'vectors', EMBEDDINGS, {
    embeddings: { input: CAT, encoding_format: 'hex' },
  }),
  ...rows('error: rerank without a query', 'ranks', RERANK, { rerank: { documents } }),
  ...rows('error: rerank without documents', 'ranks', RERANK, { rerank: { query: 'cat', documents: [] } }),
  ...rows('error: rerank of an embedding model', 'vectors', RERANK, { rerank: { query: 'cat', documents } }),
  ...rows('error: no such path', 'chat', '/v1/nowhere', { any: {} }),
];

export const CASES: readonly Case[] = [...GOOD, ...BAD];
