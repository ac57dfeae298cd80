import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { realTemplates } from '../testing/real-templates.ts';
import { chatPrompt } from './chat-prompt.ts';
import { chatRequest } from './chat-request.ts';
import { chatTemplates, type TemplateFiles } from './chat-template.ts';
import { PromptRenderer } from './prompt-renderer.ts';

const { signal } = new AbortController();
const special = { bos: '<s>', eos: '</s>' };
const files = (own: string | null): TemplateFiles => ({ own, tools: null, special });
/** Takes longer than no time: the thread renders templates that begin with it. */
const SLOW = "{% for i in range(600) %}{{ '' }}{% endfor %}";
/** Reads all messages once per message. */
const QUADRATIC =
  '{% for m in messages %}{% set n = namespace(sum=0) %}{% for o in messages %}{% set n.sum = n.sum + o.content|length %}{% endfor %}{{ n.sum }};{% endfor %}';

function renderer(of: TemplateFiles, inlineMs: number, threadMs = 300_000) {
  const template = chatTemplates(of);
  return { template, prompts: new PromptRenderer(template, of, { inlineMs, threadMs }) };
}

/** A chat of `count` messages: calls, results and answers. */
function chat(count: number, more: object = {}) {
  const messages = Array.from({ length: count }, (_, at) => {
    if (at % 4 === 1)
      return {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: `call_${at}`, type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      };
    if (at % 4 === 2) return { role: 'tool', tool_call_id: `call_${at - 1}`, content: `result ${at}` };
    return { role: at % 2 === 1 ? 'assistant' : 'user', content: `text ${at}` };
  });
  return chatRequest({ messages, ...more });
}

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];

test.each<[string, string, object]>([
  ['gpt-oss', 'openai-gpt-oss-120b', { tools }],
  ['Gemma 4', 'google-gemma-4-31B-it', { tools }],
  ['Command R7B', 'CohereForAI-c4ai-command-r7b-12-2024-tool_use', { tools }],
  ['DeepSeek V3.2', 'deepseek-ai-DeepSeek-V3.2', {}],
  ['Llama 3.1, with variables', 'meta-llama-Llama-3.1-8B-Instruct', { chat_template_kwargs: { a: 1 } }],
])('the thread renders the same prompt: %s', async (_, name, more) => {
  const { template, prompts } = renderer(files(SLOW + realTemplates().get(`${name}.jinja`)), 0);
  for (const request of [chat(31, more), chat(32, more)])
    expect(await prompts.render(request, signal)).toEqual(chatPrompt(template, request));
});

test('the templates for chats with and without tools, and a continued answer', async () => {
  const { prompts } = renderer(
    { ...files(`${SLOW}plain`), tools: `${SLOW}{{ tools | length }}<tool_call>` },
    0,
  );
  const text = async (more: object) => (await prompts.render(chat(2, more), signal)).text;
  expect([await text({}), await text({ tools })]).toEqual(['plain', '1<tool_call>']);
  const continued = chatRequest({
    messages: [
      { role: 'user', content: 'Count.' },
      { role: 'assistant', content: 'One two' },
    ],
  });
  expect((await renderer(files(`${SLOW}assistant: `), 0).prompts.render(continued, signal)).text).toBe(
    'assistant: One two',
  );
});

test('a slow rendering goes on in a thread, and the event loop is free', async () => {
  const { prompts } = renderer(files(QUADRATIC), 50);
  let turns = 0;
  const done = prompts.render(chat(401), signal).finally(() => {
    turns = -Number.MAX_SAFE_INTEGER;
  });
  while (turns >= 0 && turns < 5) {
    await pause(1);
    turns += 1;
  }
  expect(turns, 'the event loop turned five times before the end').toBe(5);
  expect((await done).text.split(';')).toHaveLength(402);
});

test.each([
  ['a refusal of the template', "{{ raise_exception('one role only') }}", 'one role only'],
  ['a filter that does not exist', '{{ messages | nothing }}', 'nothing'],
])('%s is 400 in the thread too', async (_, own, message) => {
  await expect(renderer(files(SLOW + own), 0).prompts.render(chat(2), signal)).rejects.toMatchObject({
    status: 400,
    code: 'chat_template.failed',
    param: 'messages',
    message: expect.stringContaining(message),
  });
});

test('refuses a chat that takes too long', async () => {
  const { prompts } = renderer(files(QUADRATIC), 5, 100);
  await expect(prompts.render(chat(20_000), signal)).rejects.toMatchObject({
    status: 400,
    code: 'chat_template.failed',
    message:
      'The chat template of this model failed: it takes more than 0.1 s for 20000 messages. Send fewer messages',
  });
});

test('a caller who disconnects ends its thread and leaves the queue', async () => {
  const { prompts } = renderer(files(QUADRATIC), 5);
  const [first, second] = [new AbortController(), new AbortController()];
  const running = prompts.render(chat(20_000), first.signal);
  const queued = prompts.render(chat(20_000), second.signal);
  second.abort(new Error('second left'));
  await expect(queued).rejects.toThrow('second left');
  first.abort(new Error('first left'));
  await expect(running).rejects.toThrow('first left');
  await expect(prompts.render(chat(20_000), first.signal)).rejects.toThrow('first left');
});
