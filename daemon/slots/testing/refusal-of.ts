import { GatewayError } from '../../contract/errors.ts';

/** Returns the GatewayError with which a promise rejects. Throws on any other outcome. */
export const refusalOf = async (promise: Promise<unknown>): Promise<GatewayError> => {
  const cause = await promise.then(
    () => new Error('was not refused'),
    (reason: unknown) => reason,
  );
  if (!(cause instanceof GatewayError)) throw cause;
  return cause;
};
