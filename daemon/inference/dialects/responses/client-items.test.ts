/** Calls of the tools that the client runs, as `/v1/responses` emits them. */
import { describe, expect, test } from 'vitest';
import { asObject, type Json } from '../json.ts';
import { responses } from './responses.ts';

const TOOLS = [{ type: 'local_shell' }, { type: 'shell' }, { type: 'apply_patch' }];

function events(name: string, args: readonly string[], reason = 'tool_calls'): Json[] {
  const body = { input: 'x', tools: TOOLS, stream: true, store: false };
  const encoder = responses(Buffer.from(JSON.stringify(body)), null).events({ model: 'm', upstream: null });
  const call = (more: Json) => ({ choices: [{ delta: { tool_calls: [{ index: 0, ...more }] } }] });
  const text = [
    encoder.open(),
    encoder.chunk(call({ id: 'c', function: { name, arguments: '' } })),
    ...args.map((piece) => encoder.chunk(call({ function: { arguments: piece } }))),
    encoder.chunk({ choices: [{ delta: {}, finish_reason: reason }] }),
    encoder.end(),
  ].join('');
  return text
    .trim()
    .split('\n\n')
    .map((block) => JSON.parse(block.split('\ndata: ')[1] ?? '{}') as Json);
}

const item = (name: string, args: readonly string[], reason?: string): Json => {
  const done = events(name, args, reason).find(({ type }) => type === 'response.output_item.done');
  return asObject(done?.item) ?? {};
};

describe('the item of a call', () => {
  test.each<[string, string[], Json]>([
    [
      'shell',
      ['{"comm', 'ands":["ls","pwd"],"timeout_ms":5}'],
      {
        type: 'shell_call',
        action: { commands: ['ls', 'pwd'], timeout_ms: 5, max_output_length: null },
        environment: { type: 'local' },
      },
    ],
    [
      'shell',
      ['{"command":"ls"}'],
      { action: { commands: ['ls'], timeout_ms: null, max_output_length: null } },
    ],
    ['shell', ['ls -l'], { action: { commands: ['ls -l'] } }],
    [
      'local_shell',
      ['{"command":["ls"],"working_directory":"/a"}'],
      {
        type: 'local_shell_call',
        action: {
          type: 'exec',
          command: ['ls'],
          env: {},
          timeout_ms: null,
          user: null,
          working_directory: '/a',
        },
      },
    ],
    ['local_shell', ['{"command":"ls | wc"}'], { action: { command: ['bash', '-lc', 'ls | wc'] } }],
    [
      'apply_patch',
      ['{"type":"create_file","path":"a","diff":"+x"}'],
      {
        type: 'apply_patch_call',
        operation: { type: 'create_file', path: 'a', diff: '+x' },
      },
    ],
    [
      'apply_patch',
      ['{"operation":{"type":"delete_file","path":"a","diff":""}}'],
      {
        operation: { type: 'delete_file', path: 'a' },
      },
    ],
    [
      'apply_patch',
      ['*** Begin Patch'],
      {
        operation: { type: 'update_file', path: '', diff: '*** Begin Patch' },
      },
    ],
  ])('%s with %j', (name, args, expected) => {
    expect(item(name, args)).toMatchObject({ status: 'completed', call_id: 'c', ...expected });
  });

  test('has the same id in each event, and the last event repeats it', () => {
    for (const name of ['shell', 'local_shell', 'apply_patch']) {
      const all = events(name, ['{}']);
      const ids = all.flatMap((event) => (asObject(event.item) ? [asObject(event.item)?.id] : []));
      expect(new Set(ids).size).toBe(1);
      expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, at) => at));
      expect(asObject(all.at(-1)?.response)?.output).toEqual(
        [item(name, ['{}'])].map((each) => ({ ...each, id: ids[0] })),
      );
    }
  });

  test('of a truncated call is incomplete, except a patch, which has no such status', () => {
    expect(item('shell', ['{"commands":["l'], 'length').status).toBe('incomplete');
    expect(item('local_shell', ['{"com'], 'length').status).toBe('incomplete');
    expect(item('apply_patch', ['{"type":'], 'length').status).toBe('completed');
  });
});
