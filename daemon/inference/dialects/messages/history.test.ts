/** Blocks of a history that only a provider can read, on `/v1/messages`. */
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../contract/errors.ts';
import { IgnoredNames } from '../../../contract/ignored.ts';
import { asList, type Json } from '../json.ts';
import { textOnlyOf } from '../text-only.ts';
import { readCount, readMessages } from './request.ts';

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const text = (words: string) => ({ type: 'text', text: words });
const use = (name = 'Read', id = 't') => ({ type: 'tool_use', id, name, input: {} });
const result = (content: unknown, id = 't') => ({ type: 'tool_result', tool_use_id: id, content });
const loop = (content: unknown, name = 'Read') => [
  user('x'),
  assistant([use(name)]),
  user([result(content)]),
];

function read(messages: unknown, more: Json = {}) {
  const notes = { places: new WeakMap<object, string>(), ignored: new IgnoredNames() };
  const bytes = Buffer.from(JSON.stringify({ max_tokens: 9, messages, ...more }));
  const chat = readMessages(bytes, notes);
  return { chat, messages: asList(chat.messages) as Json[], ignored: notes.ignored.names };
}

function refusal(messages: unknown): { status: number; message: string } {
  try {
    read(messages);
  } catch (error) {
    if (error instanceof GatewayError) return { status: error.status, message: error.message };
    throw error;
  }
  throw new Error('it was read');
}

const pdfBase64 = {
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
};
const pdfUrl = { type: 'document', title: 'Plan', source: { type: 'url', url: 'https://x.test/a.pdf' } };
const stored = { type: 'document', source: { type: 'file', file_id: 'file_1' } };
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
const storedImage = { type: 'image', source: { type: 'file', file_id: 'file_2' } };
const found = {
  type: 'search_result',
  title: 'Title',
  source: 'https://x.test',
  content: [text('First.'), text('Second.')],
};
const PDF = /PDF document.*cannot read.*pdftotext/;

describe('in a tool result', () => {
  test.each<[string, unknown, RegExp, string[]]>([
    ['a PDF', [pdfBase64], PDF, ['document (PDF)']],
    ['a PDF by URL', [text('See.'), pdfUrl], /^See\.\n.*PDF document \(Plan\)/, ['document (PDF)']],
    ['a stored document', [stored], /file that this model cannot read/, ['document']],
    ['a stored image', [storedImage], /file that this model cannot read/, ['image']],
    ['a search result', [found], /^Title\nhttps:\/\/x\.test\nFirst\.\nSecond\.$/, []],
    ['a tool reference', [{ type: 'tool_reference', tool_name: 'mcp__a__b' }], /^Tool found: mcp__a__b$/, []],
    ['a browser state', [{ type: 'browser_state', tabs: [] }], /type browser_state/, ['browser_state']],
    ['a type of the future', [{ type: 'hologram', data: 1 }], /type hologram/, ['hologram']],
    [
      'a document of blocks',
      [{ type: 'document', source: { type: 'content', content: [text('One.'), image] } }],
      /^One\.\n.*file/,
      [],
    ],
    ['nothing', null, /^$/, []],
  ])('%s becomes text', (_, content, expected, ignored) => {
    const made = read(loop(content));
    expect(made.messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 't' });
    expect(made.messages.at(-1)?.content).toMatch(expected);
    expect(made.ignored).toEqual(ignored);
  });

  test('a model without vision gets a placeholder at the position of an image', () => {
    const { messages } = read([
      ...loop([text('Before.'), image, text('After.')]).slice(0, 2),
      user([result([text('Before.'), image, text('After.')]), text('Well?')]),
    ]);
    const [tool, own] = messages.slice(-2);
    expect(tool?.content).toBe('Before.\nAfter.');
    expect(own?.content).toHaveLength(2);
    expect(textOnlyOf(tool as Json)).toEqual({
      role: 'tool',
      tool_call_id: 't',
      content: 'Before.\n[An image that this model cannot read.]\nAfter.',
    });
    expect(textOnlyOf(own as Json)).toEqual({ role: 'user', content: 'Well?' });
  });

  test('the message of images alone is left out for such a model', () => {
    const { messages } = read(loop([image]));
    expect(textOnlyOf(messages.at(-1) as Json)).toBeNull();
  });
});

describe('in the newest user message', () => {
  test.each([
    ['a PDF', [pdfBase64], 400, 'Could not process PDF'],
    ['a PDF by URL', [text('Read.'), pdfUrl], 400, 'Could not process PDF'],
    ['a stored document', [stored], 400, 'Could not process PDF'],
    ['a stored image', [storedImage], 400, 'Could not process image'],
    ['a file of a container', [{ type: 'container_upload', file_id: 'f' }], 400, 'Could not process'],
    ['an unknown block', [{ type: 'audio' }], 422, 'blocks of a user are'],
  ])('%s is refused', (_, content, status, words) => {
    const refused = refusal([user(content)]);
    expect(refused.status).toBe(status);
    expect(refused.message).toContain(words);
  });

  test.each(['text/plain', 'text/csv', 'application/json'])(
    'a document of the type %s in base64 is read, wherever it is',
    (media_type) => {
      const source = { type: 'base64', media_type, data: Buffer.from('a;b').toString('base64') };
      const file = { type: 'document', title: 'Table', source };
      expect(read([user([file, text('Read.')])]).messages[0]?.content).toBe('Table\na;b\n\nRead.');
      expect(read(loop([file])).messages.at(-1)?.content).toBe('Table\na;b');
    },
  );

  test('no content at all is refused', () => {
    expect(refusal([user([])])).toMatchObject({ status: 422, message: /messages/ });
    expect(read([user([]), assistant('a'), user('y')]).messages).toHaveLength(2);
  });

  test('an image stays also for a model without vision, which refuses it', () => {
    const { messages } = read([user([image, text('What?')])]);
    expect(textOnlyOf(messages[0] as Json)).toMatchObject({ content: [{ type: 'image_url' }, {}] });
  });

  test('blocks of a provider become text', () => {
    const block = { type: 'mcp_tool_result', tool_use_id: 'm', content: [text('ok')] };
    const made = read([user([block, text('Go on.')])]);
    expect(made.messages[0]?.content).toMatch(/type mcp_tool_result.*\n\nGo on\.$/s);
    expect(made.ignored).toEqual(['mcp_tool_result']);
  });
});

describe('in an older user message', () => {
  test.each<[string, unknown, RegExp]>([
    ['a PDF', [pdfBase64, text('Read.')], /PDF.*\n\nRead\.$/s],
    ['a stored document', [stored], /file that this model/],
    ['a file of a container', [{ type: 'container_upload', file_id: 'f' }], /file that this model/],
    ['an unknown block', [{ type: 'audio' }], /type audio/],
    ['a search result', [found], /^Title/],
  ])('%s becomes text', (_, content, expected) => {
    expect(read([user(content), assistant('Yes.'), user('And?')]).messages[0]?.content).toMatch(expected);
    // The client sends the next request after a refused one.
    expect(read([user(content), user('And?')]).messages[0]?.content).toMatch(expected);
    expect(read([user(content), ...loop('ok').slice(1)]).messages[0]?.content).toMatch(expected);
  });

  test('an image is a placeholder for a model without vision', () => {
    const { messages } = read([user([image, text('What?')]), assistant('A cat.'), user('Sure?')]);
    expect(textOnlyOf(messages[0] as Json)).toEqual({
      role: 'user',
      content: '[An image that this model cannot read.]\n\nWhat?',
    });
  });
});

describe('in a turn of the assistant', () => {
  const search = [
    { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [{ type: 'web_search_result' }] },
  ];

  test.each<[string, unknown[], string[]]>([
    ['a web search', search, ['server_tool_use', 'web_search_tool_result']],
    ['encrypted reasoning', [{ type: 'redacted_thinking', data: 'zz' }], ['redacted_thinking']],
    ['a call of a remote server', [{ type: 'mcp_tool_use', id: 'm', name: 'n' }], ['mcp_tool_use']],
    [
      'a result of code',
      [{ type: 'code_execution_tool_result', content: {} }],
      ['code_execution_tool_result'],
    ],
    ['a change of the model', [{ type: 'fallback', from: {}, to: {} }], ['fallback']],
    ['a type of the future', [{ type: 'hologram' }], ['hologram']],
  ])('%s is left out and named', (_, blocks, ignored) => {
    const made = read([user('x'), assistant([...blocks, text('Done.')]), user('And?')]);
    expect(made.messages[1]).toEqual({ role: 'assistant', content: 'Done.' });
    expect(made.ignored).toEqual(ignored);
    // A turn without anything else is not empty.
    expect(read([user('x'), assistant(blocks), user('And?')]).messages[1]?.content).not.toBe('');
    const called = read([user('x'), assistant([...blocks, use()]), user([result('ok')])]);
    expect(called.messages[1]).toMatchObject({ content: null, tool_calls: [{ id: 't' }] });
  });

  test('a compaction says that earlier turns are unreadable, or is its summary', () => {
    const made = read([
      assistant([{ type: 'compaction', content: null, encrypted_content: 'z' }]),
      user('x'),
    ]);
    expect(made.messages[0]?.content).toMatch(/Earlier turns were compacted/);
    expect(made.ignored).toEqual(['compaction']);
    const summary = [{ type: 'compaction', content: 'They talked.' }, text(' Yes.')];
    expect(read([assistant(summary), user('x')]).messages[0]?.content).toBe('They talked. Yes.');
  });

  test.each([
    ['EqQBCgIYAh', ['thinking.signature']],
    ['', []],
    [undefined, []],
    ['svc:reasoning:groq', []],
    ['svc:reasoning_content:a', []],
  ])('the signature %j of reasoning', (signature, ignored) => {
    const made = read([user('x'), assistant([{ type: 'thinking', thinking: 'hm', signature }]), user('x')]);
    expect(made.messages[1]).toEqual({ role: 'assistant', reasoning_content: 'hm', content: '' });
    expect(made.ignored).toEqual(ignored);
  });
});

test('a container of earlier turns is left out and named', () => {
  expect(read([user('x')], { container: 'container_1' }).ignored).toEqual(['container']);
});

describe('tools that the client runs', () => {
  const offered = (...tools: Json[]) => asList(read([user('x')], { tools }).chat.tools) as Json[];

  test.each([
    ['bash_20241022', 'bash', ['command', 'restart']],
    ['bash_20250124', 'bash', ['command', 'restart']],
    ['text_editor_20241022', 'str_replace_editor', ['new_str', 'view_range']],
    ['text_editor_20250124', 'str_replace_editor', ['new_str', 'view_range']],
    ['text_editor_20250429', 'str_replace_based_edit_tool', ['new_str', 'view_range']],
    ['text_editor_20250728', 'str_replace_based_edit_tool', ['new_str', 'insert_text']],
    ['memory_20250818', 'memory', ['insert_text', 'old_path', 'new_path']],
  ])('%s is a function', (type, name, fields) => {
    const tool = offered({ type, name })[0]?.function as Json;
    expect(tool).toMatchObject({ name, description: expect.any(String), parameters: { type: 'object' } });
    expect(Object.keys((tool.parameters as Json).properties as Json)).toEqual(expect.arrayContaining(fields));
  });

  test.each([
    ['text_editor_20250124', true],
    ['text_editor_20250728', false],
    ['text_editor_20250429', false],
  ])('%s can undo: %s', (type, expected) => {
    expect(JSON.stringify(offered({ type, name: 'e' })).includes('undo_edit')).toBe(expected);
    expect(JSON.stringify(offered({ type, name: 'e' })).includes('insert_text')).toBe(type.endsWith('0728'));
  });

  test('tools of Anthropic are left out and named', () => {
    const tools = [
      { type: 'web_search_20250305', name: 'web_search' },
      { type: 'code_execution_20250825', name: 'code_execution' },
      { type: 'mcp_toolset', mcp_server_name: 'm' },
      { type: 'bash_20250124', name: 'bash' },
    ];
    const made = read([user('x')], { tools });
    expect(made.chat.tools).toMatchObject([{ function: { name: 'bash' } }]);
    expect(made.ignored).toEqual(['web_search_20250305', 'code_execution_20250825', 'mcp_toolset']);
    expect(read([user('x')], { tools: tools.slice(0, 1) }).chat).not.toHaveProperty('tools');
  });
});

describe('deferred tools', () => {
  const tool = (name: string, more: Json = {}) => ({ name, input_schema: { type: 'object' }, ...more });
  const tools = [
    tool('CronList', { defer_loading: true }),
    tool('ToolSearch'),
    tool('mcp__a__b', { defer_loading: true }),
    tool('Read'),
  ];
  const namesOf = (messages: unknown, more: Json = {}) =>
    (asList(read(messages, { tools, ...more }).chat.tools) as Json[]).map(
      (each) => (each.function as Json).name,
    );
  const reference = (name: string) => ({ type: 'tool_reference', tool_name: name });

  test.each<[string, unknown, string[]]>([
    ['without a reference', [user('x')], []],
    ['after a reference', loop([reference('CronList')], 'ToolSearch'), ['CronList']],
    [
      'in the order of reference',
      loop([reference('mcp__a__b'), reference('CronList')], 'ToolSearch'),
      ['mcp__a__b', 'CronList'],
    ],
    ['of an unknown tool', loop([reference('gone')], 'ToolSearch'), []],
    ['after a call', loop('ok', 'mcp__a__b'), ['mcp__a__b']],
    [
      'after the search of a provider',
      [
        user('x'),
        assistant([
          {
            type: 'tool_search_tool_result',
            content: { type: 'tool_search_tool_search_result', tool_references: [reference('CronList')] },
          },
        ]),
        user('y'),
      ],
      ['CronList'],
    ],
    [
      'after an addition',
      [user('x'), { role: 'system', content: [{ type: 'tool_addition', tool: reference('CronList') }] }],
      ['CronList'],
    ],
  ])('%s', (_, messages, names) => {
    expect(namesOf(messages)).toEqual(['ToolSearch', 'Read', ...names]);
  });

  test('a required tool is offered', () => {
    expect(namesOf([user('x')], { tool_choice: { type: 'tool', name: 'CronList' } })).toContain('CronList');
  });

  test('all are offered where only a provider could search, or nothing else is declared', () => {
    const search = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };
    expect(namesOf([user('x')], { tools: [...tools, search] })).toHaveLength(4);
    expect(namesOf([user('x')], { tools: [tools[0]] })).toEqual(['CronList']);
  });

  test('a count counts the same tools', () => {
    const body = { messages: loop([reference('CronList')], 'ToolSearch'), tools };
    expect(asList(readCount(Buffer.from(JSON.stringify(body))).tools)).toHaveLength(3);
  });
});

describe('system messages', () => {
  const system = (content: unknown) => ({ role: 'system', content });
  const rolesOf = (messages: unknown, more: Json = {}) =>
    read(messages, more).messages.map(({ role, content }) => [role, content]);

  test.each<[string, unknown[], unknown[][]]>([
    [
      'at the start are merged',
      [system('A'), system('B'), user('x')],
      [
        ['system', 'S\n\nA\n\nB'],
        ['user', 'x'],
      ],
    ],
    [
      'in the middle stay',
      [user('x'), assistant('y'), system('N'), user('z')],
      [
        ['system', 'S'],
        ['user', 'x'],
        ['assistant', 'y'],
        ['system', 'N'],
        ['user', 'z'],
      ],
    ],
    [
      'at the end stay',
      [user('x'), system('N')],
      [
        ['system', 'S'],
        ['user', 'x'],
        ['system', 'N'],
      ],
    ],
    [
      'of blocks without text are left out',
      [user('x'), system([{ type: 'tool_removal', tool: {} }]), user('y')],
      [
        ['system', 'S'],
        ['user', 'x'],
        ['user', 'y'],
      ],
    ],
    [
      'follow the results of a call',
      [user('x'), assistant([use()]), system('N'), user([result('ok')])],
      [
        ['system', 'S'],
        ['user', 'x'],
        ['assistant', null],
        ['tool', 'ok'],
        ['system', 'N'],
      ],
    ],
    [
      'without content are left out',
      [user('x'), { role: 'system' }],
      [
        ['system', 'S'],
        ['user', 'x'],
      ],
    ],
  ])('%s', (_, messages, expected) => {
    expect(rolesOf(messages, { system: 'S' })).toEqual(expected);
  });

  test('a later one leaves everything before it as it was', () => {
    const before = rolesOf([user('x'), assistant('y')], { system: 'S' });
    const after = rolesOf([user('x'), assistant('y'), system('N'), user('z')], { system: 'S' });
    expect(after.slice(0, before.length)).toEqual(before);
  });
});

test.each([{}, { input: null }, { input: {} }])(
  'a call with %j as its input stays in the history',
  (fields) => {
    const { messages } = read([
      user('x'),
      assistant([{ type: 'tool_use', id: 't', name: 'now', ...fields }]),
      user([result('noon')]),
    ]);
    expect(messages[1]?.tool_calls).toMatchObject([{ id: 't', function: { name: 'now', arguments: '{}' } }]);
  },
);
