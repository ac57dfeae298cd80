import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../../contract/errors.ts';
import { scanBody } from './body-index.ts';
import { checkCalls, fillArguments } from './call-arguments.ts';
import { render } from './edits.ts';

const call = (args: unknown, id = 'c') => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
});
const turn = (...calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const user = { role: 'user', content: 'hi' };
const indexOf = (messages: unknown[]) => scanBody(Buffer.from(JSON.stringify({ messages })));

function refusal(messages: unknown[]): GatewayError {
  try {
    checkCalls(indexOf(messages));
  } catch (error) {
    return error as GatewayError;
  }
  return expect.unreachable('it was accepted');
}

describe('a call that cannot be read', () => {
  it.each([
    ['an open brace', [user, turn(call('{'))], 'messages.1.tool_calls.0'],
    ['a cut value', [user, turn(call('{"path":"a'))], 'messages.1.tool_calls.0'],
    ['plain text', [turn(call('now'))], 'messages.0.tool_calls.0'],
    ['a list', [turn(call('[1]'))], 'messages.0.tool_calls.0'],
    ['a number', [turn(call('7'))], 'messages.0.tool_calls.0'],
    ['a quoted object', [turn(call('"{}"'))], 'messages.0.tool_calls.0'],
    ['two objects', [turn(call('{}{}'))], 'messages.0.tool_calls.0'],
    ['the second call', [user, turn(call('{}'), call('{', 'd'))], 'messages.1.tool_calls.1'],
    ['a later turn', [user, turn(call('{}')), user, turn(call('{'))], 'messages.3.tool_calls.0'],
  ])('%s is 400 with its position', (_, messages, param) => {
    const { code, status, options, message } = refusal(messages);
    expect([code, status, options.param]).toEqual(['request.invalid_history', 400, param]);
    expect(message.startsWith(`${param}: `)).toBe(true);
  });
});

describe('a call that can be read', () => {
  it.each([
    ['an object', [turn(call('{"a":1}'))]],
    ['white space around it', [turn(call(' {"a":1}\n'))]],
    ['arguments as an object', [turn(call({ a: 1 }))]],
    ['no arguments field', [turn({ id: 'c', type: 'function', function: { name: 'f' } })]],
    ['no function', [turn({ id: 'c', type: 'custom', custom: { name: 'f', input: '{' } })]],
    ['calls that are null', [{ role: 'assistant', content: 'x', tool_calls: null }]],
    ['the word in a text', [{ role: 'assistant', content: 'use "tool_calls": {' }]],
    ['a broken call of a user', [{ ...turn(call('{')), role: 'user' }]],
    ['no messages', []],
  ])('%s stays as it is', (_, messages) => expect(checkCalls(indexOf(messages))).toEqual([]));

  it.each(['', ' ', '\n', 'null', ' null '])('empty arguments %j are {} for own engines only', (text) => {
    const index = indexOf([user, turn(call(text), call('{"a":1}', 'd'))]);
    const context = { index, callEdits: checkCalls(index), thinkingDefault: () => null };
    const filled = render(index, fillArguments({ ...context, local: true })).toString();
    expect(JSON.parse(filled)).toEqual({ messages: [user, turn(call('{}'), call('{"a":1}', 'd'))] });
    expect(fillArguments({ ...context, local: false })).toEqual([]);
  });
});
