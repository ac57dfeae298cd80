import { describe, expect, test } from 'vitest';
import { pinnedTemplates, realTemplates } from '../testing/real-templates.ts';
import { chatRequest } from './chat-request.ts';
import { chatTemplate } from './chat-template.ts';

const templates = realTemplates();
const pinned = pinnedTemplates();

const FIRST = 'call_0123456789abcdef0123456789abcdef';
const SECOND = 'toolu_01ABCdefGHIjklMNOpqrST';
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string | null, ...calls: object[]) => ({
  role: 'assistant',
  content,
  ...(calls.length === 0 ? {} : { tool_calls: calls }),
});
const call = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const weather = call(FIRST, 'get_weather', '{"city": "Paris-Nord"}');
const time = call(SECOND, 'get_time', '{}');
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
const system = { role: 'system', content: 'svc-system' };
const parameters = {
  type: 'object',
  properties: { city: { type: 'string', description: 'The city' }, days: { type: 'integer' } },
  required: ['city'],
};
const tools = [
  { type: 'function', function: { name: 'get_weather', description: 'Weather.', parameters } },
  { type: 'function', function: { name: 'get_time', description: 'Time.', parameters: { type: 'object' } } },
];

interface Case {
  messages: object[];
  tools?: boolean;
  /** What the prompt contains, in this order where each is written once. */
  prompt: string[];
}

const CASES: Readonly<Record<string, Case>> = {
  'one message': { messages: [user('svc-hi')], prompt: ['svc-hi'] },
  'a system message': { messages: [system, user('svc-hi')], prompt: ['svc-system', 'svc-hi'] },
  'a system message alone': { messages: [system], prompt: ['svc-system'] },
  tools: { messages: [user('svc-hi')], tools: true, prompt: ['get_weather', 'city', 'get_time', 'svc-hi'] },
  'a system message and tools': {
    messages: [system, user('svc-hi')],
    tools: true,
    prompt: ['svc-system', 'get_weather', 'svc-hi'],
  },
  'two messages of the user': {
    messages: [user('svc-hi'), user('svc-there')],
    prompt: ['svc-hi', 'svc-there'],
  },
  'two messages of the user, later': {
    messages: [user('svc-hi'), assistant('svc-answer'), user('svc-and'), user('svc-then')],
    prompt: ['svc-hi', 'svc-answer', 'svc-and', 'svc-then'],
  },
  'two answers': {
    messages: [user('svc-hi'), assistant('svc-answer'), assistant('svc-more'), user('svc-then')],
    prompt: ['svc-hi', 'svc-answer', 'svc-more', 'svc-then'],
  },
  'an answer first': { messages: [assistant('svc-hello'), user('svc-hi')], prompt: ['svc-hello', 'svc-hi'] },
  'a call and its result': {
    messages: [user('svc-hi'), assistant(null, weather), result(FIRST, 'svc-rain')],
    tools: true,
    prompt: ['svc-hi', 'Paris-Nord', 'svc-rain'],
  },
  'a whole tool loop': {
    messages: [
      system,
      user('svc-hi'),
      assistant('', weather),
      result(FIRST, 'svc-rain'),
      assistant('', time),
      result(SECOND, 'svc-noon'),
      assistant('svc-answer'),
      user('svc-then'),
    ],
    tools: true,
    prompt: ['svc-system', 'svc-hi', 'Paris-Nord', 'svc-rain', 'svc-noon', 'svc-answer', 'svc-then'],
  },
  'two calls': {
    messages: [
      user('svc-hi'),
      assistant(null, weather, time),
      result(FIRST, 'svc-rain'),
      result(SECOND, 'svc-noon'),
    ],
    tools: true,
    prompt: ['svc-hi', 'Paris-Nord', 'svc-rain', 'svc-noon'],
  },
  'a loop that the user interrupts': {
    messages: [user('svc-hi'), assistant('', weather), result(FIRST, 'svc-rain'), user('svc-then')],
    tools: true,
    prompt: ['svc-hi', 'Paris-Nord', 'svc-rain', 'svc-then'],
  },
  'reasoning before a call': {
    messages: [
      user('svc-hi'),
      { ...assistant('', weather), reasoning_content: 'svc-thought' },
      result(FIRST, 'svc-rain'),
    ],
    tools: true,
    prompt: ['svc-hi', 'Paris-Nord', 'svc-rain'],
  },
  'calls without tools': {
    messages: [user('svc-hi'), assistant('', weather), result(FIRST, 'svc-rain')],
    prompt: ['svc-hi', 'Paris-Nord', 'svc-rain'],
  },
  'a text next to a call': {
    messages: [user('svc-hi'), assistant('svc-look', weather), result(FIRST, 'svc-rain')],
    tools: true,
    prompt: ['svc-hi', 'svc-look', 'Paris-Nord', 'svc-rain'],
  },
  'a later system message': {
    messages: [user('svc-hi'), assistant('svc-answer'), { role: 'system', content: 'svc-notice' }],
    prompt: ['svc-hi', 'svc-answer', 'svc-notice'],
  },
};

/** Templates that write only the calls of a message with text and calls. */
const DROPS_TEXT: ReadonlySet<string> = new Set([
  'Cohere2MoE',
  'CohereForAI-c4ai-command-r7b-12-2024-tool_use',
  'MiniMax-M1',
  'Mistral-Small-3.2-24B-Instruct-2506',
  'NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use',
  'NousResearch-Hermes-3-Llama-3.1-8B-tool_use',
  'meta-llama-Llama-3.1-8B-Instruct',
  'meta-llama-Llama-3.2-3B-Instruct',
  'meta-llama-Llama-3.3-70B-Instruct',
  'mistralai-Mistral-Nemo-Instruct-2407',
  'muse-glimmer',
  'upstage-Solar-Open-100B',
]);
/** Templates that write such a text after the results. */
const TEXT_LAST: ReadonlySet<string> = new Set([
  'deepseek-ai-DeepSeek-R1-Distill-Qwen-32B',
  'google-gemma-4-31B-it',
  'google-gemma-4-31B-it-interleaved',
]);
/** Templates that write the system message before the last message of the user. */
const SYSTEM_LAST: ReadonlySet<string> = new Set(['mistralai-Mistral-Nemo-Instruct-2407']);

describe.each([...templates])('%s', (file, source) => {
  const name = file.replace('.jinja', '');
  const template = chatTemplate(source, { bos: '<s>', eos: '</s>' });

  test.each(Object.entries(CASES))('%s', (about, { messages, tools: hasTools, prompt: expected }) => {
    const request = chatRequest({ messages: structuredClone(messages), tools: hasTools ? tools : undefined });
    const prompt = template.render({
      messages: request.messages,
      tools: request.tools?.offered ?? null,
      templateArguments: {},
    });
    const textOfCall = about === 'a text next to a call';
    const drops = textOfCall && (DROPS_TEXT.has(name) || TEXT_LAST.has(name));
    const texts = drops ? expected.filter((text) => text !== 'svc-look') : expected;
    for (const text of texts) expect(prompt).toContain(text);
    const places = texts
      .filter((text) => /^(svc-|Paris)/.test(text) && !(text === 'svc-system' && SYSTEM_LAST.has(name)))
      .map((text) => prompt.lastIndexOf(text));
    expect(places, 'in order').toEqual([...places].sort((a, b) => a - b));
    expect(prompt, 'no JSON within JSON').not.toContain('\\"city');
    if (textOfCall) expect(prompt.includes('svc-look'), 'DROPS_TEXT is true').toBe(!DROPS_TEXT.has(name));
  });
});

test.skipIf(pinned === null)('the templates are those of the pinned llama.cpp', () => {
  expect([...templates.keys()]).toEqual([...(pinned?.keys() ?? [])]);
  for (const [name, source] of templates) expect(pinned?.get(name) === source, name).toBe(true);
});
