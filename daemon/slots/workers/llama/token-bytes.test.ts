import { expect, test } from 'vitest';
import { tokenBytes } from './token-bytes.ts';

test.each([
  ['hello', 'gpt2', [...Buffer.from('hello')]],
  ['Ġhello', 'gpt2', [...Buffer.from(' hello')]],
  ['Ċ', 'gpt2', [10]],
  ['Ã©', 'gpt2', [...Buffer.from('é')]],
  ['ðŁĺ', 'gpt2', [0xf0, 0x9f, 0x98]],
  ['Ģ', 'gpt2', [0x80]],
  ['ÿ', 'gpt2', [0xff]],
  ['Ń', 'gpt2', [0xad]],
  ['', 'gpt2', []],
  ['<0xE2>', 'llama', [0xe2]],
  ['<0x0a>', 'llama', [10]],
  ['模', 'gpt2', null],
  ['▁the', 'llama', null],
  ['<0xE2', 'llama', null],
  ['<0xE2>x', 'llama', null],
  ['##ing', 'bert', null],
])('%s of %s', (entry, model, bytes) => expect(tokenBytes(entry, model)).toEqual(bytes));

test('every byte has one character', () => {
  const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCodePoint(code));
  const bytes = characters.flatMap((character) => tokenBytes(character, 'gpt2') ?? []);
  expect([...bytes].sort((a, b) => a - b)).toEqual(Array.from({ length: 256 }, (_, byte) => byte));
});
