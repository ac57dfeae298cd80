import { expect, it } from 'vitest';
import { pasted, withKeys } from './image-file.ts';

it('gives a repeated image its own key', () => {
  const keyed = withKeys(['a', 'b', 'a']);
  expect(keyed.map(({ address }) => address)).toEqual(['a', 'b', 'a']);
  expect(new Set(keyed.map(({ key }) => key)).size).toBe(3);
});

it('returns the files of a paste, and whether it has text', () => {
  const file = new File(['x'], 'a.png', { type: 'image/png' });
  const board = (text: string) => ({
    files: [file] as unknown as FileList,
    getData: (type: string) => (type === 'text/plain' ? text : '<table>'),
  });
  expect(pasted(board(''))).toEqual({ files: [file], words: false });
  expect(pasted(board('1\t2'))).toEqual({ files: [file], words: true });
});
