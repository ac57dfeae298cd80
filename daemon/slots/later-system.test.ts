import { expect, test } from 'vitest';
import { withReminders } from './later-system.ts';

const system = (content: unknown) => ({ role: 'system', content });
const user = (content: unknown) => ({ role: 'user', content });
const assistant = { role: 'assistant', content: 'y' };
const tool = { role: 'tool', content: 'ok' };
const note = (text: string) => `<system-reminder>\n${text}\n</system-reminder>`;
const part = (text: string) => ({ type: 'text', text });

test.each<[string, object[], (object | null)[]]>([
  ['at the start stays', [system('S'), user('x')], [system('S'), user('x')]],
  ['several at the start stay', [system('S'), system('T'), user('x')], [system('S'), system('T'), user('x')]],
  ['after a tool', [user('x'), tool, system('N')], [user('x'), tool, user(note('N'))]],
  [
    'between turns merges with the next user message',
    [user('x'), assistant, system('N'), user('z')],
    [user('x'), assistant, user(`${note('N')}\n\nz`), null],
  ],
  [
    'after a user message merges with it',
    [user('x'), system('N'), assistant],
    [user(`x\n\n${note('N')}`), null, assistant],
  ],
  [
    'several in a row',
    [user('x'), system('N'), { role: 'developer', content: 'M' }, user('z')],
    [user(`x\n\n${note('N')}\n\n${note('M')}\n\nz`), null, null, null],
  ],
  [
    'beside an image',
    [user([{ type: 'image_url' }]), system([part('N'), part('M')])],
    [user([{ type: 'image_url' }, part(note('N\nM'))]), null],
  ],
  ['without any', [user('x'), user('y')], [user('x'), user('y')]],
])('a system message %s', (_, messages, expected) => {
  expect(withReminders(messages)).toEqual(expected);
});

test('gaps stay gaps, and unchanged messages stay the same objects', () => {
  const messages = [user('x'), null, assistant, null, system('N')];
  const made = withReminders(messages);
  expect(made.map((message) => message === null)).toEqual([false, true, false, true, false]);
  expect([made[0] === messages[0], made[2] === messages[2]]).toEqual([true, true]);
});

test('a later message leaves the messages before it as they were', () => {
  const before = [system('S'), user('x'), assistant, system('N'), user('z'), assistant];
  const after = [...before, system('M'), user('w')];
  expect(withReminders(after).slice(0, before.length)).toEqual(withReminders(before));
});
