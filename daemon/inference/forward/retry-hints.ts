/** What an answer says of trying again, in the words of HTTP and of the official clients. */
const RETRY_HINTS = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/** The headers of an answer by which its caller knows whether and when to try again. */
export const retryHints = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    RETRY_HINTS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
