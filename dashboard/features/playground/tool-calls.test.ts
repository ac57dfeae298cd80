import { describe, expect, it } from 'vitest';
import { callsOfDelta, callsOfOmni, readable, type ToolCall, toolsOf, withPiece } from './tool-calls.ts';

const gather = (pieces: ReturnType<typeof callsOfDelta>): ToolCall[] =>
  pieces.reduce<ToolCall[]>((calls, piece) => withPiece(calls, piece), []);

describe('tool calls', () => {
  it('are put together from their pieces, each by its index', () => {
    const pieces = [
      ...callsOfDelta([{ index: 0, function: { name: 'get_time', arguments: '{"zo' } }]),
      ...callsOfDelta([
        { index: 1, function: { name: 'roll' } },
        { index: 0, function: { arguments: 'ne":"UTC"}' } },
      ]),
      ...callsOfDelta(null),
    ];
    expect(gather(pieces)).toEqual([
      { key: 'call-0', name: 'get_time', arguments: '{"zone":"UTC"}', result: null },
      { key: 'call-1', name: 'roll', arguments: '', result: null },
    ]);
  });

  it('of the gateway have their results', () => {
    const pieces = [
      ...callsOfOmni({ type: 'tool_call', id: 'a', name: 'speak', arguments: '{}' }),
      ...callsOfOmni({ type: 'tool_result', id: 'a', name: 'speak', ok: true, content: 'said', ms: 12 }),
      ...callsOfOmni({ type: 'done' }),
      ...callsOfOmni(undefined),
    ];
    expect(gather(pieces)).toEqual([
      { key: 'omni-a', name: 'speak', arguments: '{}', result: { ok: true, content: 'said', ms: 12 } },
    ]);
  });

  it.each([
    ['', null, null],
    ['[{"type":"function"}]', [{ type: 'function' }], null],
    ['{}', null, /must be a list/],
    ['[{', null, /not valid JSON/],
  ])('tools from %j', (text, tools, fault) => {
    expect(toolsOf(text).tools).toEqual(tools);
    if (fault === null) expect(toolsOf(text).fault).toBeNull();
    else expect(toolsOf(text).fault).toMatch(fault);
  });

  it('reads JSON and leaves the rest', () => {
    expect([readable('{"a":1}'), readable('no')]).toEqual(['{\n  "a": 1\n}', 'no']);
  });
});
