import { describe, expect, it } from 'vitest';
import {
  callsOfDelta,
  callsOfOmni,
  callsWithResults,
  isOpen,
  readable,
  type ToolCall,
  toolsOf,
  withPiece,
  withResult,
} from './tool-calls.ts';

const gather = (pieces: ReturnType<typeof callsOfDelta>): ToolCall[] =>
  pieces.reduce<ToolCall[]>((calls, piece) => withPiece(calls, piece), []);

describe('tool calls', () => {
  it('are assembled from their deltas by index', () => {
    const pieces = [
      ...callsOfDelta([{ index: 0, id: 'c1', function: { name: 'get_time', arguments: '{"zo' } }]),
      ...callsOfDelta([
        { index: 1, function: { name: 'roll' } },
        { index: 0, function: { arguments: 'ne":"UTC"}' } },
      ]),
      ...callsOfDelta(null),
    ];
    expect(gather(pieces)).toEqual([
      { key: 'call-0', id: 'c1', name: 'get_time', arguments: '{"zone":"UTC"}', result: null },
      { key: 'call-1', id: null, name: 'roll', arguments: '', result: null },
    ]);
  });

  it('of the gateway include their results', () => {
    const pieces = [
      ...callsOfOmni({ type: 'tool_call', id: 'a', name: 'speak', arguments: '{}' }),
      ...callsOfOmni({ type: 'tool_result', id: 'a', name: 'speak', ok: true, content: 'said', ms: 12 }),
      ...callsOfOmni({ type: 'done' }),
      ...callsOfOmni(undefined),
    ];
    expect(gather(pieces)).toEqual([
      {
        key: 'omni-a',
        id: null,
        name: 'speak',
        arguments: '{}',
        result: { ok: true, content: 'said', ms: 12 },
      },
    ]);
  });

  describe('of the caller', () => {
    const call = (id: string | null, key = `call-${id}`): ToolCall => ({
      key,
      id,
      name: 'get_time',
      arguments: '{}',
      result: null,
    });

    it('get the result that the user enters, once', () => {
      const calls = withResult([call('a'), call('b')], 'call-a', 'noon');
      expect(calls.map(isOpen)).toEqual([false, true]);
      expect(withResult(calls, 'call-a', 'midnight')).toEqual(calls);
    });

    it('are sent with their results when each has one', () => {
      const first = withResult([call('a'), call('b'), call(null, 'omni-x')], 'call-a', 'noon');
      expect(callsWithResults(first)).toBeNull();
      expect(callsWithResults(withResult(first, 'call-b', ''))).toEqual({
        calls: ['a', 'b'].map((id) => ({
          id,
          type: 'function',
          function: { name: 'get_time', arguments: '{}' },
        })),
        results: [
          { role: 'tool', tool_call_id: 'a', content: 'noon' },
          { role: 'tool', tool_call_id: 'b', content: '' },
        ],
      });
    });

    it('that the gateway ran do not wait for a result of the user', () => {
      expect([isOpen(call(null)), callsWithResults([call(null)])]).toEqual([false, null]);
    });
  });

  it.each([
    ['', null, null],
    ['[{"type":"function"}]', [{ type: 'function' }], null],
    ['{}', null, /must be a JSON list/],
    ['[{', null, /not valid JSON/],
  ])('tools from %j', (text, tools, fault) => {
    expect(toolsOf(text).tools).toEqual(tools);
    if (fault === null) expect(toolsOf(text).fault).toBeNull();
    else expect(toolsOf(text).fault).toMatch(fault);
  });

  it('formats JSON and leaves other text unchanged', () => {
    expect([readable('{"a":1}'), readable('no')]).toEqual(['{\n  "a": 1\n}', 'no']);
  });
});
