import { expect, test } from 'vitest';
import { SetupError } from './setup-error.ts';

test('a set-up error carries what is wrong, what to do, and its cause', () => {
  const cause = new Error('EACCES');
  const error = new SetupError('state folder cannot be written', 'chown it', { cause });
  expect(error).toBeInstanceOf(Error);
  expect([error.name, error.message, error.advice, error.cause]).toEqual([
    'SetupError',
    'state folder cannot be written',
    'chown it',
    cause,
  ]);
});
