import { expect, test } from 'vitest';
import type { ChatMessage } from './chat-message.ts';
import { type TemplateLimits, withinLimits } from './template-limits.ts';

const NONE: TemplateLimits = {
  nineCharIds: false,
  oneCall: false,
  callsAlone: false,
  noSystem: false,
  needsUser: false,
  alternates: false,
};
const system = (content: string): ChatMessage => ({ role: 'system', content });
const user = (content: string): ChatMessage => ({ role: 'user', content });
const answer = (content: string, ...ids: (string | undefined)[]): ChatMessage => ({
  role: 'assistant',
  content,
  ...(ids.length === 0
    ? {}
    : {
        tool_calls: ids.map((id, i) => ({
          ...(id === undefined ? {} : { id }),
          function: { name: `f${i}`, arguments: {} },
        })),
      }),
});
const result = (content: string, id?: string): ChatMessage => ({
  role: 'tool',
  content,
  ...(id === undefined ? {} : { tool_call_id: id }),
});

/** Writes messages in short: role, text, names of calls, and ids. */
const short = (messages: readonly ChatMessage[]): string[] =>
  messages.map(({ role, content, tool_calls: calls = [], tool_call_id: id }) =>
    [role[0], content, ...calls.map((call) => call.function.name), ...(id === undefined ? [] : [`#${id}`])]
      .join(' ')
      .trim(),
  );

test('without limits nothing changes', () => {
  const messages = [system('S'), user('A'), user('B'), answer('C', 'x', 'y')];
  expect(withinLimits(messages, NONE)).toBe(messages);
});

test.each<[string, ChatMessage[], string[]]>([
  ['two in a row', [user('A'), user('B')], ['u A\n\nB']],
  ['an answer first', [answer('A'), user('B')], ['u ...', 'a A', 'u B']],
  ['two answers', [user('A'), answer('B'), answer('C'), user('D')], ['u A', 'a B\n\nC', 'u D']],
  ['a text, then a call', [user('A'), answer('B'), answer('', 'x'), result('R')], ['u A', 'a B f0', 't R']],
  [
    'calls in two messages',
    [user('A'), answer('', 'x'), answer('', 'y'), result('R'), result('S')],
    ['u A', 'a  f0 f0', 't R', 't S'],
  ],
  [
    'a user after a result',
    [user('A'), answer('', 'x'), result('R'), user('B')],
    ['u A', 'a  f0', 't R', 'a ...', 'u B'],
  ],
  [
    'an answer after a result',
    [user('A'), answer('', 'x'), result('R'), answer('B'), user('C')],
    ['u A', 'a  f0', 't R', 'a B', 'u C'],
  ],
  [
    'an answer, a call, an answer',
    [user('A'), answer('B'), answer('', 'x'), result('R'), answer('C'), user('D')],
    ['u A', 'a B f0', 't R', 'a C', 'u D'],
  ],
  ['a system message', [system('S'), user('A'), user('B')], ['s S', 'u A\n\nB']],
  ['nothing', [], []],
])('alternates: %s', (_, messages, expected) => {
  expect(short(withinLimits(messages, { ...NONE, alternates: true }))).toEqual(expected);
});

test.each<[string, ChatMessage[], string[]]>([
  [
    'by id',
    [answer('T', 'x', 'y'), result('Y', 'y'), result('X', 'x')],
    ['a T f0', 't X #x', 'a  f1', 't Y #y'],
  ],
  ['by position', [answer('T', 'x', 'y'), result('X'), result('Y')], ['a T f0', 't X', 'a  f1', 't Y']],
  [
    'a result is missing',
    [answer('', 'x', 'y'), result('Y', 'y'), user('B')],
    ['a  f0', 'a  f1', 't Y #y', 'u B'],
  ],
  [
    'one result too many',
    [answer('', 'x', 'y'), result('1'), result('2'), result('3')],
    ['a  f0', 't 1', 'a  f1', 't 2', 't 3'],
  ],
  ['one call', [answer('T', 'x'), result('X', 'x')], ['a T f0', 't X #x']],
  ['a result without a call', [user('A'), result('X', 'x')], ['u A', 't X #x']],
])('one call per message: %s', (_, messages, expected) => {
  expect(short(withinLimits(messages, { ...NONE, oneCall: true }))).toEqual(expected);
});

test('ids of nine characters: stable, equal for call and result, and unchanged where they fit', () => {
  const limits = { ...NONE, nineCharIds: true };
  const ids = (messages: ChatMessage[]) =>
    withinLimits(messages, limits).flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [
      ...calls.map((call) => call.id),
      ...(id === undefined ? [] : [id]),
    ]);
  const long = 'call_0123456789abcdef0123456789abcdef';
  const [first, second, third, ...more] = ids([
    answer('', long, 'abcDEF123'),
    result('R', long),
    result('S', 'abcDEF123'),
  ]);
  expect([first, second]).toEqual([expect.stringMatching(/^[a-z0-9]{9}$/), 'abcDEF123']);
  expect([third, ...more]).toEqual([first, second]);
  expect(ids([answer('', long)])).toEqual([first]);
  const [a, b, c, d] = ids([answer('', undefined, undefined), result('R'), result('S')]);
  expect([c, d]).toEqual([a, b]);
  expect(a).not.toBe(b);
  expect(ids([result('R')])).toEqual([expect.stringMatching(/^[a-z0-9]{9}$/)]);
});

test.each<[string, ChatMessage[], string[]]>([
  ['into the first message of the user', [system('S'), user('A'), answer('B')], ['u S\n\nA', 'a B']],
  ['of several', [system('S'), system('T'), user('A')], ['u S\n\nT\n\nA']],
  ['alone', [system('S')], ['u S']],
  ['before an answer', [system('S'), answer('B'), user('A')], ['a B', 'u S\n\nA']],
  ['empty', [system(''), user('A')], ['u A']],
])('no system message: its text %s', (_, messages, expected) => {
  expect(short(withinLimits(messages, { ...NONE, noSystem: true }))).toEqual(expected);
});

test('a user is needed, and calls stand alone', () => {
  const needsUser = { ...NONE, needsUser: true };
  expect(short(withinLimits([system('S'), system('T')], needsUser))).toEqual(['s S', 'u T']);
  expect(short(withinLimits([system('S'), user('A')], needsUser))).toEqual(['s S', 'u A']);
  expect(short(withinLimits([answer('B')], needsUser))).toEqual(['a B']);
  const callsAlone = { ...NONE, callsAlone: true };
  expect(short(withinLimits([answer('B', 'x'), answer('', 'y')], callsAlone))).toEqual([
    'a B',
    'a  f0',
    'a  f0',
  ]);
});
