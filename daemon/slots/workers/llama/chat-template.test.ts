import { expect, test } from 'vitest';
import { CHATML } from '../../../models/testing/gguf/chat-templates.ts';
import { chatRequest } from './chat-request.ts';
import { chatTemplate, chatTemplates } from './chat-template.ts';

const special = { bos: '<s>', eos: '</s>' };
const render = (template: string | null, body: object) => {
  const { messages, tools, templateArguments } = chatRequest(body);
  return chatTemplate(template, special).render({
    messages,
    tools: tools?.offered ?? null,
    templateArguments,
  });
};
const hi = { messages: [{ role: 'user', content: 'hi' }] };

test('uses ChatML for a model without a template', () => {
  expect(render(null, hi)).toBe('<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n');
});

test('passes special tokens, the generation prompt, tools and variables to the template', () => {
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

test('provides the date to templates that need it', () => {
  expect(render("{{ strftime_now('%Y') }}", hi)).toBe(String(new Date().getFullYear()));
});

test.each([
  ["{{ raise_exception('roles must alternate') }}", 'roles must alternate'],
  ['{{ messages[0].content.nothing() }}', 'chat template'],
  ['{% if %}', 'chat template'],
  ['{% for x in', 'chat template'],
])("%s is a 400 with the template's message", (template, message) => {
  const fails = () => render(template, hi);
  expect(fails).toThrow(message);
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

test('passes arguments as an object to templates that write JSON and as text to those that paste it', () => {
  expect(render(`${CALLS}{{ c.function.arguments | tojson }}${END}`, withCall)).toBe('{"a": 1}');
  expect(render(`${CALLS}{{ 'args: ' + c.function.arguments }}${END}`, withCall)).toBe('args: {"a": 1}');
  expect(render(CHATML, withCall)).toContain('"arguments": {"a": 1}');
});

const tools = [{ type: 'function', function: { name: 'f', description: 'It adds.' } }];

test('describes tools in text and converts calls and results to messages for a template without tools', () => {
  const prompt = render(null, { ...withCall, tools });
  expect(prompt).toMatch(/^<\|im_start\|>system\nYou can call these functions:\n\{"name":"f"/);
  expect(prompt).toContain('assistant\n{"name":"f","arguments":{"a":1}}<|im_end|>');
  expect(prompt).toContain('user\nResult of the function call:\nok<|im_end|>');
  expect(render(null, withCall)).not.toContain('You can call');
});

test('adds instructions to the system message, or to the first message without a system role', () => {
  const system = { messages: [{ role: 'system', content: 'Be kind.' }, ...hi.messages], tools };
  expect(render(null, system)).toMatch(/system\nYou can call[\s\S]*\n\nBe kind\./);
  const without =
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ m.content }}{% endfor %}";
  expect(render(without, { ...hi, tools })).toMatch(/^You can call[\s\S]*\n\nhi$/);
});

test('passes reasoning_effort, and none turns thinking off', () => {
  const template = '{{ reasoning_effort }}/{{ enable_thinking }}';
  expect(render(template, { ...hi, reasoning_effort: 'high' })).toBe('high/');
  expect(render(template, { ...hi, reasoning_effort: 'none' })).toBe('none/false');
  expect(render(template, { ...hi, reasoning_effort: 'none', enable_thinking: true })).toBe('none/true');
});

const EACH_CALL = '{%- for m in messages if m.tool_calls %}{%- set call = m.tool_calls[0].function %}';

test.each([
  [
    'with tags',
    `${EACH_CALL}{%- for key, value in call.arguments | items %}<parameter={{ key }}>{{ value }}{%- endfor %}{%- endfor %}`,
    '<parameter=a>1',
  ],
  [
    'with tags around',
    `${EACH_CALL}{%- for key, value in call.arguments.items() %}<arg_key>{{ key }}</arg_key>{%- endfor %}{%- endfor %}`,
    '<arg_key>a</arg_key>',
  ],
])('passes arguments as an object when the template writes them one by one: %s', (_, template, written) => {
  expect(render(template, withCall)).toContain(written);
});

test('adds description and parameters to every tool for a template that reads them', () => {
  const template =
    "{%- for t in tools %}{{ '// ' + t.function.description + ';' }}{%- for p in t.function.parameters.properties %}{{ p }}{%- endfor %}{%- endfor %}";
  expect(render(template, { ...hi, tools: [{ type: 'function', function: { name: 'f' } }] })).toBe('// ;');
});

test('passes reasoning before a call as thinking unless the message has content or thinking', () => {
  const template =
    '{%- for m in messages if m.tool_calls %}{{ m.tool_calls[0].function.arguments | tojson }}{{ m.thinking }}|{{ m.content }}{%- endfor %}';
  const [, call] = withCall.messages;
  const renderWith = (more: object) =>
    render(template, { messages: [{ ...call, reasoning_content: 'Hm', ...more }] });
  expect([renderWith({}), renderWith({ content: 'So' }), renderWith({ thinking: 'own' })]).toEqual(
    ['Hm|', '|So', 'own|'].map((text) => `{"a": 1}${text}`),
  );
});

test('omits the content of a message with only calls', () => {
  const template =
    "{%- for m in messages %}{%- if m['content'] is none %}{{ m.tool_calls[0]['function']['arguments'] }}{%- else %}{{ m.content }};{%- endif %}{%- endfor %}";
  expect(render(template, withCall)).toBe('hi;{"a": 1}ok;');
});

test('adds empty descriptions for a template that fails without them', () => {
  const template =
    '{%- for t in tools %}{%- for name, field in t.function.parameters.properties | items %}{{ name + field.description | trim }}{%- endfor %}{%- endfor %}';
  const parameters = { type: 'object', properties: { a: { type: 'string' }, b: { description: ' B ' } } };
  expect(
    render(template, { ...hi, tools: [{ type: 'function', function: { name: 'f', parameters } }] }),
  ).toBe('abB');
});

test('writes calls as text for a template that lists tools and ignores calls', () => {
  const template = '{%- for m in messages %}{{ m.role + m.content }};{%- endfor %}{{ tools | length }}';
  expect(render(template, { ...withCall, tools })).toBe(
    'userhi;assistant{"name":"f","arguments":{"a":1}};toolok;1',
  );
});

test('uses the second template of a file for chats with tools', () => {
  const both = chatTemplates({ own: 'plain', tools: '{{ tools | length }}<tool_call>', special });
  const render = (body: object) => {
    const { messages, tools: offeredTools, templateArguments } = chatRequest(body);
    return both.render({ messages, tools: offeredTools?.offered ?? null, templateArguments });
  };
  expect([render(hi), render({ ...hi, tools }), both.family.id]).toEqual(['plain', '1<tool_call>', 'hermes']);
});
