import { expect, test } from 'vitest';
import { CURATED, type ImageModel } from '../models/images/curated.ts';
import { V1_DOCUMENTS } from '../routes/v1-documents.ts';
import { chatRequest } from '../slots/workers/llama/chat-request.ts';
import { completionRequest } from '../slots/workers/llama/completion-request.ts';
import { parseSpeechRequest } from './audio/speech-plan.ts';
import type { Json } from './dialects/json.ts';
import { readCount, readMessages } from './dialects/messages/request.ts';
import { readResponses } from './dialects/responses/request.ts';
import { parseEmbeddingRequest } from './embeddings/embedding-request.ts';
import { parseImageHead, parseImageRequest } from './images/checks.ts';
import { parseOmniRequest } from './omni/omni-request.ts';
import { parseRerankRequest } from './rerank/rerank-request.ts';
import { parseScoreRequest } from './rerank/score-request.ts';
import {
  EMBEDDING_NAMES,
  modelOf,
  SPEECH_NAMES,
  scanBody,
  TRANSLATED_NAMES,
  wantsStream,
} from './rewrite/body-index.ts';
import { wantsOmni } from './rewrite/omni.ts';
import { includesUsage } from './rewrite/stream-usage.ts';

const bytesOf = (body: Json): Buffer => Buffer.from(JSON.stringify(body));

const MODEL = CURATED[0] as ImageModel;

/** What the gateway and the embedded engine read of a chat or completion. */
const general = (body: Json): unknown => {
  const index = scanBody(bytesOf(body));
  return [modelOf(index), wantsStream(index), includesUsage(index), wantsOmni(index)];
};
const image = (body: Json): unknown => {
  const head = parseImageHead(body, () => 'img');
  const { drawing, ...rest } = parseImageRequest(head, MODEL);
  return [head.form, head.stream, { ...drawing, seed: 0 }, rest];
};
/** A translated request without the original body. */
const translated = ({ chat, ignored }: ReturnType<typeof readResponses>): unknown => [chat, ignored.names];

const hi = [{ role: 'user', content: 'hi' }];

/** How the bodies of each route are read, and the smallest body. Multipart has no `null`. */
const ROUTES: Partial<Record<keyof typeof V1_DOCUMENTS, [body: Json, read: (body: Json) => unknown]>> = {
  'v1.chat': [{ messages: hi }, (body) => [general(body), { ...chatRequest(body), messages: null }]],
  'v1.chat.count': [{ messages: hi }, (body) => [general(body), { ...chatRequest(body), messages: null }]],
  'v1.completions': [{ prompt: 'hi' }, (body) => [general(body), completionRequest(body)]],
  'v1.responses': [{ input: 'hi' }, (body) => translated(readResponses(bytesOf(body)))],
  'v1.messages': [{ max_tokens: 9, messages: hi }, (body) => readMessages(bytesOf(body))],
  'v1.messages.count': [{ messages: hi }, (body) => readCount(bytesOf(body))],
  'v1.embeddings': [
    { input: 'hi' },
    (body) => parseEmbeddingRequest(scanBody(bytesOf(body), EMBEDDING_NAMES)),
  ],
  'v1.rerank': [
    { query: 'q', documents: ['a'] },
    (body) => ({ ...parseRerankRequest(bytesOf(body)), others: null }),
  ],
  'v1.score': [
    { text_1: 'q', text_2: ['a'] },
    (body) => ({ ...parseScoreRequest(bytesOf(body)), others: null }),
  ],
  'v1.speech': [
    { model: 'tts', input: 'hi' },
    (body) => parseSpeechRequest(scanBody(bytesOf(body), SPEECH_NAMES)),
  ],
  'v1.images': [{ prompt: 'a cat' }, image],
};

/** Optional fields that clients send in addition to those of the OpenAPI document. */
const MORE: Partial<Record<keyof typeof ROUTES, readonly string[]>> = {
  'v1.chat': [
    ...[
      'functions',
      'function_call',
      'modalities',
      'audio',
      'store',
      'metadata',
      'prediction',
      'service_tier',
    ],
    ...['web_search_options', 'reasoning_format', 'grammar', 'json_schema', 'repeat_penalty', 'min_keep'],
    ...['mirostat', 'samplers', 'ignore_eos', 'lora', 'cache_prompt', 'n_predict', 'typical_p', 'verbosity'],
  ],
  'v1.completions': ['best_of', 'grammar', 'json_schema', 'response_format', 'repeat_penalty', 'n_predict'],
  'v1.responses': [
    ...[
      'conversation',
      'background',
      'prompt',
      'truncation',
      'include',
      'top_logprobs',
      'service_tier',
      'user',
    ],
    ...['safety_identifier', 'prompt_cache_key', 'max_tool_calls', 'stream_options', 'seed', 'stop', 'min_p'],
  ],
  'v1.messages': [
    ...['metadata', 'service_tier', 'container', 'mcp_servers', 'output_config', 'output_format'],
    ...['context_management', 'betas'],
  ],
  'v1.messages.count': ['output_config', 'output_format', 'mcp_servers', 'container', 'context_management'],
  'v1.images': [
    ...['quality', 'style', 'background', 'moderation', 'output_format', 'output_compression'],
    ...['partial_images', 'stream'],
  ],
  'v1.speech': ['stream'],
};

const CASES = Object.entries(ROUTES).flatMap(([route, [body, read]]) => {
  const document = V1_DOCUMENTS[route as keyof typeof V1_DOCUMENTS];
  const { properties = {} } = (document?.request['application/json'] ?? {}) as { properties?: Json };
  const fields = [...Object.keys(properties), ...(MORE[route as keyof typeof ROUTES] ?? [])];
  const optional = fields.filter((field) => !(field in body) || field === 'model');
  return optional
    .filter((field) => !(route === 'v1.speech' && field === 'model'))
    .map((field) => [route, field, body, read] as const);
});

test.each(CASES)('%s: null for %s means absent', (_, field, body, read) => {
  const { [field]: __, ...without } = body;
  expect(read({ ...without, [field]: null })).toEqual(read(without));
});

test('the table has every JSON route of the document', () => {
  const json = Object.entries(V1_DOCUMENTS).filter(([, each]) => 'application/json' in (each?.request ?? {}));
  const aliases = ['v1.rerankings', 'v1.reranking'];
  expect(
    json
      .map(([route]) => route)
      .filter((route) => !aliases.includes(route))
      .toSorted(),
  ).toEqual(Object.keys(ROUTES).toSorted());
});

test.each(Object.entries(ROUTES))('%s: null for all optional fields at once', (route, [body, read]) => {
  const fields = CASES.filter(([each]) => each === route).map(([, field]) => [field, null]);
  const { model: _, ...rest } = body;
  const nulls = Object.fromEntries(fields.filter(([field]) => !(String(field) in rest)));
  expect(read({ ...body, ...nulls })).toEqual(read(body));
});

/** `null` inside messages, tools and parts, and the same without it. */
test.each<[keyof typeof ROUTES, Json, Json]>([
  [
    'v1.messages',
    {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: null, citations: null }] },
      ],
    },
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] },
  ],
  [
    'v1.messages',
    {
      messages: hi,
      tools: [{ name: 'f', description: null, input_schema: { type: 'object' }, strict: null, type: null }],
    },
    { messages: hi, tools: [{ name: 'f', input_schema: { type: 'object' } }] },
  ],
  [
    'v1.messages',
    { messages: hi, output_config: { effort: null, format: null } },
    { messages: hi, output_config: {} },
  ],
  [
    'v1.responses',
    { input: [{ type: 'message', role: 'user', content: 'hi', id: null, status: null }] },
    { input: [{ type: 'message', role: 'user', content: 'hi' }] },
  ],
  [
    'v1.responses',
    { input: 'hi', text: { format: null, verbosity: null }, reasoning: { effort: null, summary: null } },
    { input: 'hi', text: {}, reasoning: {} },
  ],
  [
    'v1.responses',
    {
      input: 'hi',
      tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }],
    },
    { input: 'hi', tools: [{ type: 'function', name: 'f' }] },
  ],
  [
    'v1.chat',
    { messages: hi, stream_options: { include_usage: null } },
    { messages: hi, stream_options: {} },
  ],
  [
    'v1.chat',
    {
      messages: hi,
      tools: [
        { type: 'function', function: { name: 'f', description: null, parameters: null, strict: null } },
      ],
    },
    { messages: hi, tools: [{ type: 'function', function: { name: 'f' } }] },
  ],
])('%s: %j', (route, more, without) => {
  const [body, read] = ROUTES[route] ?? [{}, () => null];
  const tidy = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (_, each) => (each === null ? undefined : each)));
  expect(tidy(read({ ...body, ...more }))).toEqual(tidy(read({ ...body, ...without })));
});

test('omni: null means absent', () => {
  const body = { omni: true, messages: hi };
  const read = (more: Json) => {
    const bytes = bytesOf({ ...body, ...more });
    return { ...parseOmniRequest(bytes, scanBody(bytes, TRANSLATED_NAMES)), base: null };
  };
  const nulls = { model: null, n: null, tools: null, stream: null, stream_options: null, tool_choice: null };
  expect({ ...read(nulls), choice: null }).toEqual({ ...read({}), choice: null });
});
