import { expect, test } from 'vitest';
import { realTemplates } from '../testing/real-templates.ts';
import { chatPlan } from './chat-plan.ts';
import { chatPrompt } from './chat-prompt.ts';
import { chatRequest } from './chat-request.ts';
import { chatTemplate } from './chat-template.ts';

const special = { bos: '<s>', eos: '</s>' };
const user = { role: 'user', content: 'Count.' };
const prefill = { role: 'assistant', content: 'One two' };
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const tools = [{ type: 'function', function: { name: 'f' } }];
const CHATML = '<|im_start|>user\nCount.<|im_end|>\n<|im_start|>assistant\n';
const prompt = (messages: object[], more: object = {}, template: string | null = null) =>
  chatPrompt(chatTemplate(template, special), chatRequest({ messages, ...more }));

test('continues a text of the assistant at the end', () => {
  expect(prompt([user, prefill])).toEqual({ head: CHATML, text: `${CHATML}One two` });
  expect(prompt([user]).text).toBe(CHATML);
  const parts = {
    role: 'assistant',
    content: [
      { type: 'text', text: 'One' },
      { type: 'text', text: 'two' },
    ],
  };
  expect(prompt([user, parts]).text).toBe(`${CHATML}One\ntwo`);
});

test.each<[string, object[], object]>([
  ['an empty message', [user, { role: 'assistant', content: '' }], {}],
  ['a message with calls', [user, { ...prefill, tool_calls: [call] }], { tools }],
  ['a message of the user', [user, prefill, user], {}],
  ['the only message', [prefill], {}],
  ['an answer with a schema', [user, prefill], { response_format: { type: 'json_object' } }],
  ['a forced call', [user, prefill], { tools, tool_choice: 'required' }],
])('does not continue %s', (_, messages, more) => {
  const { head, text } = prompt(messages, more);
  expect(text).toBe(head);
  expect(text).toMatch(/<\|im_start\|>assistant\n$/);
});

test('closes reasoning that the template opens, with the reasoning of the message', () => {
  const thinking = `${'{% for m in messages %}{{ m.content }}|{% endfor %}'}<think>\n`;
  expect(prompt([user, prefill], {}, thinking).text).toBe('Count.|<think>\n</think>\n\nOne two');
  const thought = { ...prefill, reasoning_content: ' Hm. ' };
  expect(prompt([user, thought], {}, thinking).text).toBe('Count.|<think>Hm.\n</think>\n\nOne two');
  const template = chatTemplate(thinking, special);
  const request = chatRequest({ messages: [user, thought] });
  expect(
    chatPlan(request, template.family, chatPrompt(template, request)).readOptions.thoughts?.opened,
  ).toBeNull();
});

test('continues inside reasoning that the caller begins', () => {
  const { readOptions } = chatPlan(
    chatRequest({ messages: [user] }),
    chatTemplate(null, special).family,
    prompt([user, { role: 'assistant', content: '<think>\n' }]),
  );
  expect(readOptions.thoughts?.opened?.close).toBe('</think>');
});

test.each([...realTemplates()])('%s: the answer continues at the end of the prompt', (_, source) => {
  const template = chatTemplate(source, special);
  const request = chatRequest({ messages: [user, prefill] });
  const { head, text } = chatPrompt(template, request);
  expect(text).toBe(`${head}One two`);
  const before = template.render({
    messages: request.messages.slice(0, -1),
    tools: null,
    templateArguments: {},
  });
  expect(head.startsWith(before)).toBe(true);
  const { readOptions } = chatPlan(request, template.family, { head, text });
  expect(readOptions.thoughts?.opened ?? null).toBeNull();
  if (template.family.id === 'harmony') expect(head).toMatch(/<\|channel\|>final<\|message\|>$/);
});
