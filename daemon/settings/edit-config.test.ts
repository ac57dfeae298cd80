import { expect, test } from 'vitest';
import { setRestOfTable } from './edit-config.ts';

const FILE =
  '# mine\n[fallbacks]\nenabled = true # on\n"a.b" = ["x"] # why\nold = ["y"]\n\n[server]\nport = 1\n';

test('changes the entries of a table and preserves everything else', () => {
  expect(setRestOfTable(FILE, 'fallbacks.*', { 'a.b': ['x'], 'c:1': ['d', 'e'] })).toBe(
    '# mine\n[fallbacks]\nenabled = true # on\n"a.b" = ["x"] # why\n"c:1" = ["d", "e"]\n\n[server]\nport = 1\n',
  );
});

test('replaces one entry in its line', () => {
  expect(setRestOfTable(FILE, 'fallbacks.*', { 'a.b': ['z'], old: ['y'] })).toContain(
    '"a.b" = ["z"] # why\nold = ["y"]',
  );
});

test('adds the table, and removes all entries without the other keys', () => {
  expect(setRestOfTable('', 'fallbacks.*', { 'a.b': ['x'] })).toBe('[fallbacks]\n"a.b" = ["x"]\n');
  expect(setRestOfTable(FILE, 'fallbacks.*', {})).toBe(
    '# mine\n[fallbacks]\nenabled = true # on\n# why\n\n[server]\nport = 1\n',
  );
});
