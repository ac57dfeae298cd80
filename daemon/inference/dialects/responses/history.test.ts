/** Items of a history that only a provider can read, on `/v1/responses`. */
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../contract/errors.ts';
import { asList, type Json } from '../json.ts';
import { textOnlyOf } from '../text-only.ts';
import { readResponses } from './request.ts';

const message = (role: string, content: unknown) => ({ type: 'message', role, content });
const user = (content: unknown) => message('user', content);
const call = (call_id: string, name = 'f') => ({ type: 'function_call', call_id, name, arguments: '{}' });
const output = (call_id: string, value: unknown = 'ok') => ({
  type: 'function_call_output',
  call_id,
  output: value,
});
const part = (text: string) => ({ type: 'input_text', text });

function read(input: unknown, more: Json = {}) {
  const { chat, ignored, tools } = readResponses(Buffer.from(JSON.stringify({ input, ...more })));
  return { chat, messages: asList(chat.messages) as Json[], ignored: ignored.names, tools };
}

function refusal(input: unknown): { status: number; message: string } {
  try {
    read(input);
  } catch (error) {
    if (error instanceof GatewayError) return { status: error.status, message: error.message };
    throw error;
  }
  throw new Error('it was read');
}

describe('items of a provider', () => {
  test.each<[string, Json]>([
    ['web_search_call', { id: 'ws_1', status: 'completed', action: {} }],
    ['file_search_call', { id: 'fs_1', queries: [] }],
    ['code_interpreter_call', { id: 'ci_1', container_id: 'c' }],
    ['image_generation_call', { id: 'ig_1', result: 'AA==' }],
    ['computer_call', { id: 'cu_1', call_id: 'c' }],
    ['computer_call_output', { call_id: 'c', output: {} }],
    ['mcp_call', { id: 'm', name: 'n', arguments: '{}' }],
    ['mcp_list_tools', { id: 'm', tools: [] }],
    ['mcp_approval_request', { id: 'm' }],
    ['compaction_trigger', {}],
    ['configuration_update', {}],
    ['program', { id: 'p', code: '' }],
    ['program_output', { id: 'p', result: '' }],
  ])('%s is left out and named, wherever it is', (type, fields) => {
    const item = { type, ...fields };
    const expected = [
      { role: 'user', content: 'x' },
      { role: 'user', content: 'y' },
    ];
    for (const input of [
      [user('x'), item, user('y')],
      [item, user('x'), user('y')],
      [user('x'), user('y'), item],
    ])
      expect(read(input)).toMatchObject({ messages: expected, ignored: [type] });
    // It does not come between a call and its result.
    const loop = read([user('x'), call('a'), item, output('a'), message('assistant', 'Done.'), user('y')]);
    expect(loop.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  test('a type of the future is left out of a history, and refused as the last item', () => {
    const item = { type: 'hologram', id: 'h' };
    expect(read([user('x'), item, user('y')]).ignored).toEqual(['hologram']);
    expect(refusal([user('x'), item])).toMatchObject({ status: 422, message: /items must be one of/ });
  });

  test.each(['compaction', 'compaction_summary'])('%s message that earlier turns are unreadable', (type) => {
    const made = read([{ type, encrypted_content: 'zz' }, user('x')]);
    expect(made.messages).toMatchObject([
      { role: 'system', content: expect.stringContaining('Earlier turns were compacted') },
      { role: 'user', content: 'x' },
    ]);
    expect(made.ignored).toEqual([type]);
  });

  test.each<[unknown, string[]]>([
    ['gAAAAABo', ['reasoning.encrypted_content']],
    ['svc:reasoning:groq', []],
    ['', []],
    [null, []],
    [undefined, []],
  ])('reasoning with the encrypted content %j', (encrypted_content, ignored) => {
    const made = read([
      user('x'),
      { type: 'reasoning', summary: [], encrypted_content },
      call('a'),
      output('a'),
    ]);
    expect(made.messages).toHaveLength(3);
    expect(made.ignored).toEqual(ignored);
  });
});

const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' };
const PARTS: [string, Json, RegExp, string][] = [
  [
    'a PDF',
    { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
    /PDF document \(a\.pdf\)/,
    'input_file (PDF)',
  ],
  ['a PDF by URL', { type: 'input_file', file_url: 'https://x.test/a.pdf?k=1' }, /PDF/, 'input_file (PDF)'],
  ['a stored file', { type: 'input_file', file_id: 'file_1' }, /file that this model/, 'input_file'],
  ['a stored image', { type: 'input_image', file_id: 'file_2' }, /image that this model/, 'input_image'],
  ['sound', { type: 'input_audio', data: 'AA==' }, /file \(input_audio\)/, 'input_audio'],
];

describe('files', () => {
  test.each(PARTS)('%s in the output of a tool becomes text', (_, file, expected, name) => {
    const made = read([user('x'), call('a'), output('a', [part('See.'), file])]);
    expect(made.messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'a' });
    expect(made.messages.at(-1)?.content).toMatch(expected);
    expect(made.ignored).toEqual([name]);
  });

  test.each(PARTS)('%s in an older message becomes text', (_, file, expected) => {
    expect(read([user([file]), user('y')]).messages[0]?.content).toMatch(expected);
    expect(read([user([file]), call('a'), output('a')]).messages[0]?.content).toMatch(expected);
    expect(read([message('assistant', [file]), user('y')]).messages[0]?.content).toMatch(expected);
  });

  test.each(PARTS)('%s in the newest message is refused', (_, file) => {
    expect([400, 422]).toContain(refusal([user([part('Read.'), file])]).status);
  });

  test.each([
    ['a data URL', { filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' }, 'a.txt\nhi'],
    ['bare base64', { filename: 'notes.md', file_data: 'aGk=' }, 'notes.md\nhi'],
    ['no name', { file_data: 'data:application/octet-stream;base64,aGk=' }, 'hi'],
    ['JSON', { filename: 'a.json', file_data: 'data:application/json;base64,e30=' }, 'a.json\n{}'],
  ])('a file of text with %s is read, wherever it is', (_, fields, text) => {
    const file = { type: 'input_file', ...fields };
    expect(read([user([part('Read.'), file])]).messages[0]?.content).toBe(`Read.\n${text}`);
    const made = read([user([file]), call('a'), output('a', [file]), user('y')]);
    expect(made.messages.map(({ content }) => content)).toEqual([text, null, text, 'y']);
    expect(made.ignored).toEqual([]);
  });

  test('images are placeholders for a model without vision, except in the newest message', () => {
    const parts = [part('A.'), image, part('B.')];
    const { messages } = read([user(parts), call('a'), output('a', parts), user(parts)]);
    const placeholder = 'A.\n[An image that this model cannot read.]\nB.';
    expect(messages.map((message) => textOnlyOf(message))).toEqual([
      { role: 'user', content: placeholder },
      undefined,
      { role: 'tool', tool_call_id: 'a', content: placeholder },
      null,
      undefined,
    ]);
  });
});

describe('tools that the client runs', () => {
  const shell = { type: 'shell', environment: { type: 'local' } };
  const tools = [{ type: 'local_shell' }, shell, { type: 'apply_patch' }];

  test('are functions', () => {
    const made = read('x', { tools });
    expect(made.chat.tools).toMatchObject([
      { function: { name: 'local_shell', parameters: { required: ['command'] } } },
      { function: { name: 'shell', parameters: { required: ['commands'] } } },
      { function: { name: 'apply_patch', parameters: { required: ['type', 'path'] } } },
    ]);
    expect(made.ignored).toEqual([]);
  });

  test.each(['container_auto', 'container_reference'])('but not a shell in %s', (type) => {
    const made = read('x', { tools: [{ type: 'shell', environment: { type } }] });
    expect(made.chat).not.toHaveProperty('tools');
    expect(made.ignored).toEqual(['shell']);
  });

  test.each(['local_shell', 'shell', 'apply_patch'])('%s can be required', (type) => {
    const choice = { type: 'function', function: { name: type } };
    expect(read('x', { tools, tool_choice: { type } }).chat.tool_choice).toEqual(choice);
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type }, { type: 'web_search' }] };
    expect(read('x', { tools, tool_choice: allowed }).chat.tool_choice).toMatchObject({
      allowed_tools: { tools: [choice] },
    });
  });

  test.each<[string, unknown[], Json, string]>([
    [
      'local_shell',
      [
        {
          type: 'local_shell_call',
          id: 'lsh_1',
          call_id: 'c',
          action: { type: 'exec', command: ['ls'], env: {} },
        },
        { type: 'local_shell_call_output', id: 'c', output: 'a.txt' },
      ],
      { command: ['ls'] },
      'a.txt',
    ],
    [
      'local_shell by the id of the item',
      [
        { type: 'local_shell_call', id: 'lsh_1', call_id: 'c', action: { command: ['ls'], timeout_ms: 5 } },
        { type: 'local_shell_call_output', id: 'lsh_1', output: 'a.txt' },
      ],
      { command: ['ls'], timeout_ms: 5 },
      'a.txt',
    ],
    [
      'shell',
      [
        { type: 'shell_call', call_id: 'c', action: { commands: ['ls', 'pwd'], timeout_ms: null } },
        {
          type: 'shell_call_output',
          call_id: 'c',
          output: [
            { stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
            { stdout: '', stderr: 'b', outcome: { type: 'timeout' } },
          ],
        },
      ],
      { commands: ['ls', 'pwd'] },
      'a\nexit code 0\nb\ntimed out',
    ],
    [
      'apply_patch',
      [
        { type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', path: 'a' } },
        { type: 'apply_patch_call_output', call_id: 'c', status: 'failed', output: 'no such file' },
      ],
      { type: 'delete_file', path: 'a' },
      'no such file',
    ],
    [
      'apply_patch without output',
      [
        { type: 'apply_patch_call', call_id: 'c', operation: { type: 'update_file', path: 'a', diff: '' } },
        { type: 'apply_patch_call_output', call_id: 'c', status: 'completed' },
      ],
      { type: 'update_file', path: 'a', diff: '' },
      'completed',
    ],
  ])('the call and result of %s', (name, items, args, content) => {
    const [, assistant, tool] = read([user('x'), ...items]).messages;
    const [made] = asList(assistant?.tool_calls) as { id: string; function: Json }[];
    expect([made?.id, made?.function.name]).toEqual(['c', name.split(' ')[0]]);
    expect(JSON.parse(String(made?.function.arguments))).toEqual(args);
    expect(tool).toEqual({ role: 'tool', tool_call_id: 'c', content });
  });

  test('a call that ran in a container is left out with its result', () => {
    const made = read([
      user('x'),
      { type: 'shell_call', call_id: 'c', action: {}, environment: { type: 'container_reference' } },
      { type: 'shell_call_output', call_id: 'c', output: [] },
      user('y'),
    ]);
    expect(made.messages.map(({ role }) => role)).toEqual(['user', 'user']);
    expect(made.ignored).toEqual(['shell_call']);
  });
});

describe('calls without a field', () => {
  test.each<[string, Json, string]>([
    ['function_call without arguments', { type: 'function_call', call_id: 'a', name: 'f' }, ''],
    ['function_call with null', { type: 'function_call', call_id: 'a', name: 'f', arguments: null }, ''],
    ['custom_tool_call without input', { type: 'custom_tool_call', call_id: 'a', name: 'f' }, '{"input":""}'],
    ['tool_search_call without arguments', { type: 'tool_search_call', call_id: 'a' }, '{}'],
  ])('%s stay in the history', (_, item, args) => {
    const { messages } = read([user('x'), item, user('y')]);
    const [made] = asList(messages[1]?.tool_calls) as { function: Json }[];
    expect(made?.function.arguments).toBe(args);
  });

  test.each([{ type: 'function' }, { type: 'function', function: { name: 'f' } }, { type: 'custom' }])(
    'the choice %j of a tool without its name is refused with the field',
    (tool_choice) => {
      expect(() => read('x', { tool_choice })).toThrow('tool_choice.name: is required');
    },
  );
});

describe('deferred tools', () => {
  const search = { type: 'tool_search', execution: 'client' };
  const f = { type: 'function', name: 'f', parameters: { type: 'object' }, defer_loading: true };
  const g = { ...f, name: 'g' };
  const space = { type: 'namespace', name: 'mcp__a', tools: [g] };
  const found = (tools: unknown[]) => [
    user('x'),
    { type: 'tool_search_call', call_id: 's', arguments: {} },
    { type: 'tool_search_output', call_id: 's', tools },
  ];
  const namesOf = (input: unknown, tools: unknown[]) =>
    (asList(read(input, { tools }).chat.tools) as Json[]).map((each) => (each.function as Json).name);

  test.each<[string, unknown, unknown[], string[]]>([
    ['wait for their search', 'x', [search, f, space], ['tool_search']],
    ['appear once found', found([f]), [search, f, space], ['tool_search', 'f']],
    ['appear once found in a namespace', found([space]), [search, f, space], ['tool_search', 'mcp__a__g']],
    ['appear once called', [user('x'), call('a'), output('a')], [search, f], ['tool_search', 'f']],
    ['are offered without a search', 'x', [f, space], ['f', 'mcp__a__g']],
    ['are offered with a search of a provider', 'x', [{ type: 'tool_search' }, f], ['f']],
  ])('%s', (_, input, tools, names) => {
    expect(namesOf(input, tools)).toEqual(names);
  });
});

describe('system messages', () => {
  const rolesOf = (input: unknown, more: Json = {}) =>
    read(input, more).messages.map(({ role, content }) => [role, content]);

  test.each<[string, unknown[], unknown[][]]>([
    [
      'at the start are merged',
      [message('developer', 'A'), message('system', 'B'), user('x')],
      [
        ['system', 'S\n\nA\n\nB'],
        ['user', 'x'],
      ],
    ],
    [
      'in the middle stay',
      [user('x'), message('assistant', 'y'), message('developer', 'N'), user('z')],
      [
        ['system', 'S'],
        ['user', 'x'],
        ['assistant', 'y'],
        ['developer', 'N'],
        ['user', 'z'],
      ],
    ],
    [
      'follow the results of a call',
      [user('x'), call('a'), call('b'), message('developer', 'N'), output('a'), output('b'), user('z')],
      [
        ['system', 'S'],
        ['user', 'x'],
        ['assistant', null],
        ['tool', 'ok'],
        ['tool', 'ok'],
        ['developer', 'N'],
        ['user', 'z'],
      ],
    ],
    [
      'at the end stay',
      [user('x'), message('system', 'N')],
      [
        ['system', 'S'],
        ['user', 'x'],
        ['system', 'N'],
      ],
    ],
    [
      'in place of a compaction are merged',
      [{ type: 'compaction' }, user('x')],
      [
        ['system', expect.stringMatching(/^S\n\n\[Earlier/)],
        ['user', 'x'],
      ],
    ],
  ])('%s', (_, input, expected) => {
    expect(rolesOf(input, { instructions: 'S' })).toEqual(expected);
  });

  test('a single one keeps its role', () => {
    expect(rolesOf([message('developer', 'A'), user('x')])).toEqual([
      ['developer', 'A'],
      ['user', 'x'],
    ]);
  });
});
