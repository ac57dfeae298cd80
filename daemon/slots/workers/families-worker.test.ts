import { describe, expect, test } from 'vitest';
import { CHATML } from '../../models/testing/gguf/chat-templates.ts';
import type { TinyChatOptions } from '../../models/testing/gguf/tiny-chat.ts';
import { realTemplates } from './testing/real-templates.ts';
import { CHAT, joinDeltas, startTestWorker, user } from './testing/worker-client.ts';

const tools = ['get_time', 'get_date'].map((name) => ({
  type: 'function',
  function: { name, parameters: { properties: { zone: { type: 'string' } } } },
}));
const template = (mark: string) => CHATML.replaceAll('<tool_call>', mark);

/** For each family: the text that identifies its templates, and an example output. */
const FAMILIES: [string, TinyChatOptions, RegExp][] = [
  [
    'Hermes',
    {
      template: CHATML,
      script: [
        '<tool_call>\n{"name": "get_time", "argu',
        'ments": {"zone": "UTC", "é": ',
        '[1, 2]}}\n</tool',
        '_call>\n<tool_call>',
        '{"name":"get_date"}',
        '</tool_call>\n',
      ],
    },
    /^call_/,
  ],
  [
    'Hermes with a separate template for tools',
    {
      template: "{% for m in messages %}{{ m.role + ': ' + m.content + '\n' }}{% endfor %}",
      toolTemplate: CHATML,
      script: [
        "\n<tool_call>\n{'name': 'get_time', 'argu",
        "ments': {'zone': 'UTC', 'é': ",
        '[1, 2]}}\n</tool_call>\n',
        '<tool_call>{"name":"get_date"}</tool_call>\n\n',
      ],
    },
    /^call_/,
  ],
  [
    'Llama 3, whose mark is a control token',
    {
      template: CHATML.replaceAll('<tool_call>', '<|python_tag|>'),
      controls: ['<|python_tag|>'],
      script: [
        '<|python_tag|>',
        '{"name": "get_time", "parameters": {"zone"',
        ': "UTC", "é": [1, 2]}}; ',
        '{"name": "get_date", "parameters": {}}',
      ],
    },
    /^call_/,
  ],
  [
    'Mistral with a control token as mark',
    {
      template: `${CHATML.replaceAll('<tool_call>', '[TOOL_CALLS]')}`,
      controls: ['[TOOL_CALLS]'],
      script: [
        '[TOOL_CALLS]',
        ' [{"name": "get_time", "arguments": {"zone": "UTC",',
        ' "é": [1, 2]}}, {"name": "get_date",',
        ' "arguments": {}}]',
      ],
    },
    /^[A-Za-z0-9]{9}$/,
  ],
  [
    'Qwen3-Coder, whose tag is a single token',
    {
      template: template('<tool_call><function=<parameter='),
      controls: ['<tool_call>'],
      script: [
        '<tool_call>',
        '\n<function=get_time>\n<para',
        'meter=zone>\nU',
        'TC\n</parameter>\n<parameter=é>\n[1,',
        '2]\n</parameter>\n</function>\n</tool_call>',
        '\n<function=get_date>\n',
        '</function>\n</tool_call>',
      ],
    },
    /^call_/,
  ],
  [
    'GLM with control tokens as tags',
    {
      template: template('<tool_call><arg_key>'),
      controls: ['<tool_call>', '<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>'],
      script: [
        '<tool_call>',
        'get_time\n',
        '<arg_key>',
        'zone',
        '</arg_key>',
        '<arg_value>',
        'UTC',
        '</arg_value>',
        '<arg_key>é</arg_key><arg_value>[1,',
        '2]</arg_value></tool_call>',
        '<tool_call>get_date</tool_call>',
      ],
    },
    /^call_/,
  ],
  [
    'Kimi with control tokens as marks and named calls',
    {
      template: template('<|tool_calls_section_begin|>'),
      controls: [
        '<|tool_calls_section_begin|>',
        '<|tool_call_begin|>',
        '<|tool_call_argument_begin|>',
        '<|tool_call_end|>',
        '<|tool_calls_section_end|>',
      ],
      script: [
        '<|tool_calls_section_begin|>',
        '<|tool_call_begin|>',
        'functions.get_time:0',
        '<|tool_call_argument_begin|>',
        '{"zone": "UTC", "é',
        '": [1, 2]}',
        '<|tool_call_end|>',
        '<|tool_call_begin|>functions.get_date:1<|tool_call_argument_begin|>{}<|tool_call_end|>',
        '<|tool_calls_section_end|>',
      ],
    },
    /^functions\.get_(time:0|date:1)$/,
  ],
  [
    'DeepSeek with a template without tools',
    {
      template:
        "{% for m in messages %}{{ m.role + ': ' + m.content }}{% if m.tool_calls %}{{ '<｜tool▁calls▁begin｜>' + m.tool_calls[0].function.arguments }}{% endif %}{{ '\n' }}{% endfor %}",
      controls: ['<｜tool▁calls▁begin｜>', '<｜tool▁sep｜>'],
      script: [
        '<｜tool▁calls▁begin｜>',
        '<｜tool▁call▁begin｜>function',
        '<｜tool▁sep｜>',
        'get_time\n```json\n{"zone": "UTC",',
        ' "é": [1, 2]}\n```<｜tool▁call▁end｜>',
        '\n<｜tool▁call▁begin｜>get_date<｜tool▁sep｜>{}',
        '<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      ],
    },
    /^call_/,
  ],
  [
    'plain JSON, without a tool template',
    {
      template: null,
      script: [
        '[{"name": "get_time", "arguments": {"zone": "UTC"',
        ', "é": [1, 2]}}',
        ', {"name": "get_date", "arguments": {}}]',
      ],
    },
    /^call_/,
  ],
];

describe.each(FAMILIES)('%s', (_, model, ids) => {
  const { request, stream } = startTestWorker({ ...model, runs: false }, { context: 1024 });
  const calls = [
    { function: { name: 'get_time', arguments: '{"zone":"UTC","é":[1,2]}' } },
    { function: { name: 'get_date', arguments: '{}' } },
  ];

  test('two parallel calls, complete and streamed in pieces', async () => {
    const body = { messages: user('now?'), tools, temperature: 0 };
    const [choice] = (await request(CHAT, body)).choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: calls },
    });
    for (const call of choice?.message?.tool_calls ?? []) expect(call.id).toMatch(ids);
    const chunks = await stream(CHAT, body);
    expect(joinDeltas(chunks)).toMatchObject({ content: '', tool_calls: calls, finish: ['tool_calls'] });
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta?.tool_calls ?? []);
    expect(deltas.map((delta) => delta.index)).toEqual([...deltas].map((delta) => delta.index).sort());
    expect(deltas.filter((delta) => delta.id !== undefined)).toHaveLength(2);
    expect(deltas.filter((delta) => delta.index === 0).length).toBeGreaterThan(2);
  });

  test('one call without parallel calls', async () => {
    const body = { messages: user('now?'), tools, temperature: 0, parallel_tool_calls: false };
    const [choice] = (await request(CHAT, body)).choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls' });
    expect(choice?.message?.tool_calls).toHaveLength(1);
  });

  test('accepts a second turn with the result', async () => {
    const [first] = (await request(CHAT, { messages: user('now?'), tools, temperature: 0 })).choices;
    const result = { role: 'tool', tool_call_id: first?.message?.tool_calls?.[0]?.id, content: 'noon' };
    const messages = [...user('now?'), { ...first?.message, role: 'assistant' }, result];
    expect((await request(CHAT, { messages, tools })).status).toBe(200);
  });

  test('without tools, or when truncated, returns text', async () => {
    const [choice] = (await request(CHAT, { messages: user('now?'), temperature: 0 })).choices;
    expect(choice?.message?.tool_calls).toBeUndefined();
    expect(choice).toMatchObject({ finish_reason: 'stop' });
    const short = await request(CHAT, { messages: user('now?'), tools, max_tokens: 1 });
    expect(short).toMatchObject({ status: 200, choices: [{ finish_reason: 'length' }] });
  });
});

describe.each([
  'mistralai-Mistral-Nemo-Instruct-2407',
  'meta-llama-Llama-3.2-3B-Instruct',
  'google-gemma-2-2b-it',
])('a model with the template of %s', (name) => {
  const template = realTemplates().get(`${name}.jinja`) ?? null;
  const { request } = startTestWorker({ template, script: ['Done.'], runs: false }, { context: 4_096 });

  test('answers after calls of another gateway, two messages in a row and an interrupted turn', async () => {
    const calls = ['call_0123456789abcdef0123456789abcdef', 'toolu_01ABCdefGHIjklMNOpqrST'].map((id) => ({
      id,
      type: 'function',
      function: { name: 'get_time', arguments: '{"zone": "UTC"}' },
    }));
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'noon' }));
    const messages = [
      { role: 'system', content: 'Be brief.' },
      ...user('now?'),
      ...user('Please.'),
      { role: 'assistant', content: null, tool_calls: calls },
      ...results,
      ...user('Stop.'),
    ];
    const answer = await request(CHAT, { messages, tools, temperature: 0 });
    expect([answer.status, answer.choices?.[0]?.message?.content], JSON.stringify(answer.error)).toEqual([
      200,
      'Done.',
    ]);
  });
});
