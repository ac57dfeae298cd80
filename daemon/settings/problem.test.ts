import { expect, test } from 'vitest';
import { limitProblems } from './problem.ts';

const problems = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ file: 'f', line: i + 1, message: `m${i}` }));

test('lists fifty problems, and counts the rest', () => {
  expect(limitProblems(problems(50))).toEqual(problems(50));
  const cut = limitProblems(problems(53));
  expect(cut).toHaveLength(51);
  expect(cut.at(-1)).toEqual({ file: 'f', line: null, message: 'has 3 more problems' });
});
