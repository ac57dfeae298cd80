import { expect, test } from 'vitest';
import { limitProblems, NewProblems, type Problem } from './problem.ts';

const problems = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ file: 'f', line: i + 1, message: `m${i}` }));

test('lists fifty problems, and counts the rest', () => {
  expect(limitProblems(problems(50))).toEqual(problems(50));
  const cut = limitProblems(problems(53));
  expect(cut).toHaveLength(51);
  expect(cut.at(-1)).toEqual({ file: 'f', line: null, message: 'has 3 more problems' });
});

test('passes each problem to the log once, and again after it was corrected', () => {
  const [one, two] = problems(2) as [Problem, Problem];
  const reported = new NewProblems();
  const logged: Problem[] = [];
  for (const found of [[one], [one, two], [{ ...one }, two], [two], [two, one]])
    reported.log(found, (problem) => logged.push(problem));
  expect(logged).toEqual([one, two, one]);
});
