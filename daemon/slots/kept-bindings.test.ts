import { expect, it } from 'vitest';
import { bindingsText, readBindings } from './kept-bindings.ts';

it('what was written is read, and equal bindings are equal texts', () => {
  const one = new Map([
    ['b', 'embed'],
    ['A.1', 'a-1'],
  ]);
  expect(readBindings(bindingsText(one))).toEqual(one);
  expect(bindingsText(new Map([...one].reverse()))).toBe(bindingsText(one));
});

it.each([null, '', 'x', '[]', '{"a":1}', '{"a":"../x"}'])('%j is no memory', (text) => {
  expect(readBindings(text)).toEqual(new Map());
});
