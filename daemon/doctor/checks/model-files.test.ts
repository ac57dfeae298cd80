import { expect, test } from 'vitest';
import type { ModelProblemView } from '../../contract/models.ts';
import type { DoctorInput } from '../doctor-input.ts';
import { modelFiles } from './model-files.ts';

const check = (modelProblems: readonly ModelProblemView[]) =>
  modelFiles({ gateway: { modelProblems } } as unknown as DoctorInput);
const problem = (file: string, advice: string | null = null): ModelProblemView => ({
  file,
  reason: 'a tokenizer without weights',
  advice,
});

test('names each file with the reason and the way out', () => {
  expect(check([])).toEqual([]);
  expect(check([problem('m', 'Download it.')])).toMatchObject([
    { status: 'warn', message: 'm: a tokenizer without weights.', fix: 'Download it.' },
  ]);
});

test('counts those of a long list', () => {
  const all = check(Array.from({ length: 54 }, (_, index) => problem(`m${index}`)));
  expect(all).toHaveLength(51);
  expect(all.at(-1)?.message).toBe('4 more files cannot be used.');
});
