import { expect, it } from 'vitest';
import { pasted, withKeys } from './picture-file.ts';

it('the same picture twice has a key for each time', () => {
  const keyed = withKeys(['a', 'b', 'a']);
  expect(keyed.map(({ address }) => address)).toEqual(['a', 'b', 'a']);
  expect(new Set(keyed.map(({ key }) => key)).size).toBe(3);
});

it('a paste tells its files, and whether it has words as well', () => {
  const file = new File(['x'], 'a.png', { type: 'image/png' });
  const board = (text: string) => ({
    files: [file] as unknown as FileList,
    getData: (type: string) => (type === 'text/plain' ? text : '<table>'),
  });
  expect(pasted(board(''))).toEqual({ files: [file], words: false });
  expect(pasted(board('1\t2'))).toEqual({ files: [file], words: true });
});
