import { expect, test } from 'vitest';
import { SetupError } from './setup-error.ts';

test('has a message, advice and a cause', () => {
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
