import { expect } from 'vitest';

/** Returns the error of a call that must fail with this class. */
export async function failure<T extends Error>(
  promise: Promise<unknown>,
  kind: new (...args: never[]) => T,
): Promise<T> {
  const error = await promise.then(
    () => new Error('it was answered'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(kind);
  return error as T;
}
