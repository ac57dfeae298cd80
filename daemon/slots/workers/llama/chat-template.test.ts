import { expect, test } from 'vitest';
import { CHATML } from '../../../models/gguf/chat-templates.ts';
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

const tools = [{ type: 'function', function: { name: 'f', description: 'It adds.' } }];

test('a template that knows no tools has them told in words, and calls and results as ordinary messages', () => {
  const prompt = render(null, { ...withCall, tools });
  expect(prompt).toMatch(/^<\|im_start\|>system\nYou can call these functions:\n\{"name":"f"/);
  expect(prompt).toContain('assistant\n{"name":"f","arguments":{"a":1}}<|im_end|>');
  expect(prompt).toContain('user\nResult of the function call:\nok<|im_end|>');
  expect(render(null, withCall)).not.toContain('You can call');
});

test('the words join the system message, or the first message where a template has no such role', () => {
  const system = { messages: [{ role: 'system', content: 'Be kind.' }, ...hi.messages], tools };
  expect(render(null, system)).toMatch(/system\nYou can call[\s\S]*\n\nBe kind\./);
  const without =
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ m.content }}{% endfor %}";
  expect(render(without, { ...hi, tools })).toMatch(/^You can call[\s\S]*\n\nhi$/);
});

test('reasoning_effort reaches the template, and none turns thinking off', () => {
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
])('arguments that the template writes one by one, %s, are given as an object', (_, template, written) => {
  expect(render(template, withCall)).toContain(written);
});

test('a template that reads descriptions and parameters finds them in every tool', () => {
  const template =
    "{%- for t in tools %}{{ '// ' + t.function.description + ';' }}{%- for p in t.function.parameters.properties %}{{ p }}{%- endfor %}{%- endfor %}";
  expect(render(template, { ...hi, tools: [{ type: 'function', function: { name: 'f' } }] })).toBe('// ;');
});

test('thoughts before a call reach a template that calls them so, unless it has words for them', () => {
  const template =
    '{%- for m in messages if m.tool_calls %}{{ m.tool_calls[0].function.arguments | tojson }}{{ m.thinking }}|{{ m.content }}{%- endfor %}';
  const [, call] = withCall.messages;
  const asked = (more: object) =>
    render(template, { messages: [{ ...call, reasoning_content: 'Hm', ...more }] });
  expect([asked({}), asked({ content: 'So' }), asked({ thinking: 'own' })]).toEqual(
    ['Hm|', '|So', 'own|'].map((words) => `{"a": 1}${words}`),
  );
});

test('a template that asks whether a message has no words finds none where it only calls', () => {
  const template =
    "{%- for m in messages %}{%- if m['content'] is none %}{{ m.tool_calls[0]['function']['arguments'] }}{%- else %}{{ m.content }};{%- endif %}{%- endfor %}";
  expect(render(template, withCall)).toBe('hi;{"a": 1}ok;');
});

test('a template that fails over a parameter without a description gets an empty one', () => {
  const template =
    '{%- for t in tools %}{%- for name, field in t.function.parameters.properties | items %}{{ name + field.description | trim }}{%- endfor %}{%- endfor %}';
  const parameters = { type: 'object', properties: { a: { type: 'string' }, b: { description: ' B ' } } };
  expect(
    render(template, { ...hi, tools: [{ type: 'function', function: { name: 'f', parameters } }] }),
  ).toBe('abB');
});

test('a template that tells tools and passes over calls has calls in words', () => {
  const template = '{%- for m in messages %}{{ m.role + m.content }};{%- endfor %}{{ tools | length }}';
  expect(render(template, { ...withCall, tools })).toBe(
    'userhi;assistant{"name":"f","arguments":{"a":1}};toolok;1',
  );
});

test('a file with two templates has one of them for chats with tools', () => {
  const both = chatTemplates({ own: 'plain', tools: '{{ tools | length }}<tool_call>' }, special);
  const asked = (body: object) => {
    const { messages, tools: given, templateArguments } = chatRequest(body);
    return both.render({ messages, tools: given?.offered ?? null, templateArguments });
  };
  expect([asked(hi), asked({ ...hi, tools }), both.family.id]).toEqual(['plain', '1<tool_call>', 'hermes']);
});
