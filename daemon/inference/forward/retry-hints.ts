/** Retry headers of HTTP and of the official clients. */
const RETRY_HINTS = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/** Returns the headers that tell a caller whether and when to retry. */
export const retryHints = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    RETRY_HINTS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
