import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isTransient, readFault } from './read-error.ts';

const caught = (path: string) => readFile(path).catch((error: unknown) => error);

test('reports a system error without its path', async () => {
  expect(readFault(await caught('/nowhere/secret.gguf'))).toBe('the file does not exist');
  expect(readFault(await caught('/'))).toBe("the file can't be read (EISDIR)");
});

test('any other error has no reason', () => {
  expect([readFault(new Error('torn')), readFault('torn'), readFault(new SyntaxError('x'))]).toEqual([
    null,
    null,
    null,
  ]);
});

test('a system error inside another error may be temporary, a fault of the file is not', async () => {
  const cause = await caught('/');
  expect([
    isTransient(cause),
    isTransient(new Error('part 1', { cause: new Error('x', { cause }) })),
  ]).toEqual([true, true]);
  expect([isTransient(new Error('torn', { cause: new SyntaxError('x') })), isTransient('torn')]).toEqual([
    false,
    false,
  ]);
});
