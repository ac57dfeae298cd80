import { expect, test } from 'vitest';
import { ResponseMemory } from './response-memory.ts';

const item = (id: string, text = 'x') => ({ id, type: 'message', content: text });
const response = (id: string, previous: string | null = null, text = 'x') => ({
  id,
  previous,
  input: [{ role: 'user', content: `to ${id}` }],
  output: [item(`msg_${id}`, text)],
});

test('returns an item and the conversation up to a response', () => {
  const memory = new ResponseMemory().of('me');
  memory.store(response('a'));
  memory.store(response('b', 'a'));
  memory.store(response('c', 'a'));
  expect(memory.item('msg_a')).toEqual(item('msg_a'));
  expect(memory.conversation('c')).toEqual([
    { role: 'user', content: 'to a' },
    item('msg_a'),
    { role: 'user', content: 'to c' },
    item('msg_c'),
  ]);
  expect(memory.conversation('a')).toHaveLength(2);
});

test('a caller sees only its own', () => {
  const all = new ResponseMemory();
  all.of('me').store(response('a'));
  for (const other of ['you', 'me me', '']) {
    expect(all.of(other).item('msg_a')).toBeUndefined();
    expect(all.of(other).conversation('a')).toBeUndefined();
  }
});

test('a response expires, and with it every conversation that continues it', () => {
  let now = 0;
  const memory = new ResponseMemory({ ttlMs: 100, now: () => now }).of('me');
  memory.store(response('a'));
  now = 60;
  memory.store(response('b', 'a'));
  now = 99;
  expect(memory.conversation('b')).toHaveLength(4);
  now = 100;
  expect([memory.item('msg_a'), memory.conversation('a'), memory.conversation('b')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(memory.item('msg_b')).toEqual(item('msg_b'));
});

test('the oldest are removed first, of all callers, and the bytes stay below the limit', () => {
  const all = new ResponseMemory({ maxBytes: 64 * 1024 });
  for (let at = 0; at < 200; at++) {
    all.of(`caller ${at % 3}`).store(response(`r${at}`, null, 'x'.repeat(4000)));
    expect(all.bytes).toBeLessThanOrEqual(64 * 1024);
  }
  expect(all.of('caller 0').item('msg_r0')).toBeUndefined();
  expect(all.of('caller 1').item('msg_r199')).toBeDefined();
});

test('a response that is too large is not stored and removes nothing', () => {
  const all = new ResponseMemory({ maxBytes: 16 * 1024 });
  all.of('me').store(response('a'));
  all.of('me').store(response('b', 'a', 'x'.repeat(20_000)));
  expect(all.of('me').item('msg_a')).toBeDefined();
  expect(all.of('me').conversation('b')).toBeUndefined();
});

test('an empty memory uses no bytes again', () => {
  let now = 0;
  const all = new ResponseMemory({ ttlMs: 10, now: () => now });
  for (const id of ['a', 'b', 'a']) all.of('me').store(response(id));
  now = 10;
  expect(all.of('me').item('msg_a')).toBeUndefined();
  expect(all.bytes).toBe(0);
});

test('later changes of an item do not change what is stored', () => {
  const memory = new ResponseMemory().of('me');
  const made = response('a');
  memory.store(made);
  made.output[0] = item('msg_a', 'changed');
  made.input.push({ role: 'user', content: 'more' });
  expect(memory.conversation('a')).toHaveLength(2);
  expect(memory.item('msg_a')).toEqual(item('msg_a'));
});
