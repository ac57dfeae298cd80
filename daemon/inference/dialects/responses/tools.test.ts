import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../contract/errors.ts';
import { post } from '../../testing/client.ts';
import { chunk, eventsOf, finish, JSON_TYPE, RESPONSES } from '../../testing/dialects.ts';
import { closeAfterEach, SSE, setUp } from '../../testing/forwarding.ts';
import type { SourcePaths } from '../error-paths.ts';
import { asList, type Json } from '../json.ts';
import { readResponses } from './request.ts';

closeAfterEach();

const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const read = { type: 'function', name: 'read', description: 'Reads.', parameters, strict: false };
const sql = { type: 'custom', name: 'sql', description: 'Asks.' };
const fs = { type: 'namespace', name: 'mcp__fs__', description: 'Files.', tools: [read, sql] };
const db = { type: 'namespace', name: 'mcp__db', description: 'Rows.', tools: [read] };
const shell = { type: 'function', name: 'exec_command', parameters };
const functions = { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] };
const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters };
const user = { role: 'user', content: 'hi' };

const requestOf = (body: Json, sourcePaths?: SourcePaths) =>
  readResponses(Buffer.from(JSON.stringify({ input: 'hi', ...body })), sourcePaths);
const namesOf = (body: Json) =>
  asList(requestOf(body).chat.tools).map((tool) => (tool as { function: Json }).function.name);

function faultOf(body: Json): string {
  try {
    requestOf(body);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.status} ${error.message}`;
  }
  return '';
}

describe('declared tools', () => {
  test('namespaces are flattened', () => {
    const request = requestOf({ tools: [fs, db, shell] });
    expect(request.chat.tools).toMatchObject([
      { function: { name: 'mcp__fs__read', description: 'Reads.', parameters, strict: false } },
      { function: { name: 'mcp__fs__sql', parameters: { required: ['input'] } } },
      { function: { name: 'mcp__db__read' } },
      { function: { name: 'exec_command' } },
    ]);
    expect(request.tools.ignored).toEqual([]);
  });

  test('input items add tools and are not messages', () => {
    const added = {
      type: 'additional_tools',
      role: 'developer',
      tools: [functions, fs, { type: 'web_search' }],
    };
    const request = requestOf({ input: [added, user] });
    expect(request.chat.messages).toEqual([user]);
    expect(namesOf({ input: [added, user] })).toEqual(['exec', 'mcp__fs__read', 'mcp__fs__sql']);
    expect(request.tools.ignored).toEqual(['web_search']);
  });

  test('search results add tools once', () => {
    const found = (...tools: Json[]) => ({
      type: 'tool_search_output',
      call_id: 'a',
      execution: 'client',
      tools,
    });
    const input = [user, found(db), found(db, fs)];
    expect(namesOf({ tools: [search, shell], input })).toEqual([
      'tool_search',
      'exec_command',
      'mcp__db__read',
      'mcp__fs__read',
      'mcp__fs__sql',
    ]);
  });

  test('leaves out a search that a provider runs', () => {
    const request = requestOf({ tools: [{ type: 'tool_search' }, shell] });
    expect([namesOf({ tools: [{ type: 'tool_search' }, shell] }), request.tools.ignored]).toEqual([
      ['exec_command'],
      ['tool_search'],
    ]);
  });

  test('each tool keeps its path', () => {
    const sourcePaths: SourcePaths = new WeakMap();
    const added = { type: 'additional_tools', tools: [db] };
    const tools = asList(requestOf({ tools: [shell, fs], input: [user, added] }, sourcePaths).chat.tools);
    expect(tools.map((tool) => sourcePaths.get(tool as object))).toEqual([
      'tools.0',
      'tools.1.tools.0',
      'tools.1.tools.1',
      'input.1.tools.0.tools.0',
    ]);
  });

  test.each<[Json, string]>([
    [{ tools: [fs, { ...read, name: 'mcp__fs__read' }] }, '422 tools.1.name: another tool'],
    [{ tools: [{ ...fs, name: 'mcp__fs' }, fs] }, '422 tools.1.tools.0.name: another tool'],
    [{ tools: [shell, { ...shell, type: 'custom' }] }, '422 tools.1.name: another tool'],
    [{ tools: [{ type: 'namespace', tools: [] }] }, '422 tools.0.name: is required'],
    [
      { tools: [{ type: 'namespace', name: 'x', tools: [{ type: 'function' }] }] },
      '422 tools.0.tools.0.name: ',
    ],
    [{ tools: [{ type: 'namespace', name: 'x', tools: ['read'] }] }, '422 tools.0.tools.0.type: is required'],
  ])('%j is refused', (body, fault) => {
    expect(faultOf(body)).toContain(fault);
  });

  test('a choice names a tool of a namespace', () => {
    const tool_choice = { type: 'function', name: 'read', namespace: 'mcp__db' };
    expect(requestOf({ tools: [fs, db], tool_choice }).chat.tool_choice).toEqual({
      type: 'function',
      function: { name: 'mcp__db__read' },
    });
  });
});

test('calls of earlier turns have the names of the tools', () => {
  const input = [
    user,
    { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'rows' } },
    { type: 'tool_search_output', call_id: 's', execution: 'client', tools: [db] },
    { type: 'function_call', call_id: 'a', name: 'read', namespace: 'mcp__db', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'one' },
    { type: 'custom_tool_call', call_id: 'b', name: 'sql', namespace: 'mcp__fs__', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'b', output: 'two' },
    { type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} },
    { type: 'tool_search_output', call_id: null, execution: 'server', tools: [] },
    { type: 'tool_search_call', call_id: 't', arguments: {} },
    { type: 'tool_search_output', call_id: 't', tools: [] },
  ];
  const call = (id: string, name: string, args: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
  });
  expect(requestOf({ input }).chat.messages).toEqual([
    user,
    call('s', 'tool_search', '{"query":"rows"}'),
    { role: 'tool', tool_call_id: 's', content: 'Tools found: mcp__db__read' },
    call('a', 'mcp__db__read', '{}'),
    { role: 'tool', tool_call_id: 'a', content: 'one' },
    call('b', 'mcp__fs__sql', '{"input":"x"}'),
    { role: 'tool', tool_call_id: 'b', content: 'two' },
    call('t', 'tool_search', '{}'),
    { role: 'tool', tool_call_id: 't', content: 'No tools found.' },
  ]);
});

describe.each([false, true])('calls (stream: %s)', (stream) => {
  const body = { model: 'agent', input: 'hi', tools: [fs, search, shell, functions], stream };
  async function outputOf(name: string, args: string): Promise<unknown> {
    const call = { index: 0, id: 'c', type: 'function', function: { name, arguments: args } };
    const { gateway } = await setUp((req, res) => {
      req.resume();
      const message = { role: 'assistant', content: null, tool_calls: [call] };
      res.writeHead(200, stream ? SSE : JSON_TYPE);
      if (stream)
        res.end(
          `${chunk({ choices: [{ index: 0, delta: message }] })}${finish('tool_calls')}data: [DONE]\n\n`,
        );
      else res.end(JSON.stringify({ choices: [{ message: message, finish_reason: 'tool_calls' }] }));
    });
    const answer = await post(gateway.origin, RESPONSES, body);
    const whole = stream ? eventsOf(answer.body).at(-1)?.response : JSON.parse(answer.body);
    return (whole as { output: unknown[] }).output[0];
  }

  test.each<[string, string, Json]>([
    [
      'mcp__fs__read',
      '{"path":"/"}',
      { type: 'function_call', name: 'read', namespace: 'mcp__fs__', arguments: '{"path":"/"}' },
    ],
    [
      'mcp__fs__sql',
      '{"input":"x"}',
      { type: 'custom_tool_call', name: 'sql', namespace: 'mcp__fs__', input: 'x' },
    ],
    ['exec', '{"input":"x"}', { type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'x' }],
    ['exec_command', '{}', { type: 'function_call', name: 'exec_command', arguments: '{}' }],
    ['made_up', '{}', { type: 'function_call', name: 'made_up' }],
    [
      'tool_search',
      '{"query":"rows"}',
      { type: 'tool_search_call', execution: 'client', status: 'completed', arguments: { query: 'rows' } },
    ],
    ['tool_search', 'rows', { type: 'tool_search_call', arguments: { query: 'rows' } }],
  ])('%s(%s) is returned to the caller under its original name', async (name, args, item) => {
    const output = await outputOf(name, args);
    expect(output).toMatchObject({ call_id: 'c', ...item });
    if (item.namespace === undefined) expect(output).not.toHaveProperty('namespace');
  });
});
