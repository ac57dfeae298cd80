import { GatewayError } from '../../contract/errors.ts';

/** The refusal that a promise ends with; anything else fails the test. */
export const refusalOf = async (promise: Promise<unknown>): Promise<GatewayError> => {
  const cause = await promise.then(
    () => new Error('was not refused'),
    (reason: unknown) => reason,
  );
  if (!(cause instanceof GatewayError)) throw cause;
  return cause;
};
