import { expect, test } from 'vitest';
import { CHATML } from '../../../models/gguf/chat-templates.ts';
import { chatRequest } from './chat-request.ts';
import { chatTemplate } from './chat-template.ts';

const special = { bos: '<s>', eos: '</s>' };
const render = (template: string | null, body: object) =>
  chatTemplate(template, special).render(chatRequest(body));
const hi = { messages: [{ role: 'user', content: 'hi' }] };

test('a model without a template gets ChatML', () => {
  expect(render(null, hi)).toBe('<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n');
});

test('special tokens, the generation prompt, tools and further variables reach the template', () => {
  const template =
    '{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{% if add_generation_prompt %}>{% endif %}' +
    '{% if tools is defined %}{{ tools[0].function.name }}{% endif %}{{ enable_thinking }}{{ mood }}';
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const body = {
    ...hi,
    tools,
    enable_thinking: true,
    chat_template_kwargs: { mood: 'glad', enable_thinking: false },
  };
  expect(render(template, body)).toBe('<s>hi</s>>ffalseglad');
  expect(render('{{ tools is defined }}', hi)).toBe('false');
});

test('the date is there for templates that want it', () => {
  expect(render("{{ strftime_now('%Y') }}", hi)).toBe(String(new Date().getFullYear()));
});

test.each([
  ["{{ raise_exception('roles must alternate') }}", 'roles must alternate'],
  ['{{ messages[0].content.nothing() }}', 'chat template'],
  ['{% if %}', 'chat template'],
  ['{% for x in', 'chat template'],
])('%s is a 400 in the words of the template', (template, words) => {
  const fails = () => render(template, hi);
  expect(fails).toThrow(words);
  expect(fails).toThrow(expect.objectContaining({ status: 400, code: 'chat_template.failed' }));
});

const withCall = {
  messages: [
    ...hi.messages,
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'ok' },
  ],
};
const CALLS = '{% for m in messages %}{% for c in m.tool_calls or [] %}';
const END = '{% endfor %}{% endfor %}';

test('arguments are an object for templates that write JSON, text for those that paste it', () => {
  expect(render(`${CALLS}{{ c.function.arguments | tojson }}${END}`, withCall)).toBe('{"a": 1}');
  expect(render(`${CALLS}{{ 'args: ' + c.function.arguments }}${END}`, withCall)).toBe('args: {"a": 1}');
  expect(render(CHATML, withCall)).toContain('"arguments": {"a": 1}');
});
