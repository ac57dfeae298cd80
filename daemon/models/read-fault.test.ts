import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isTransient, readFault } from './read-fault.ts';

const caught = (path: string) => readFile(path).catch((error: unknown) => error);

test('an error of the system is told without its path', async () => {
  expect(readFault(await caught('/nowhere/secret.gguf'))).toBe('the file does not exist');
  expect(readFault(await caught('/'))).toBe("the file can't be read (EISDIR)");
});

test('any other error speaks for itself', () => {
  expect([readFault(new Error('torn')), readFault('torn'), readFault(new SyntaxError('x'))]).toEqual([
    null,
    null,
    null,
  ]);
});

test('what lies beneath an error of ours may pass, a fault of the file does not', async () => {
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
