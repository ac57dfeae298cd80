const isOfSystem = (error: Error): error is NodeJS.ErrnoException => 'code' in error && 'syscall' in error;

/** Returns the system's reason for an unreadable file without its path. Null for any other error. */
export function readFault(error: unknown): string | null {
  if (!(error instanceof Error) || !isOfSystem(error)) return null;
  return error.code === 'ENOENT' ? 'the file does not exist' : `the file can't be read (${error.code})`;
}

/**
 * Returns whether a system error is the cause, also of a wrapping error. It says nothing about the file and
 * may be temporary.
 */
export const isTransient = (error: unknown): boolean =>
  error instanceof Error && (isOfSystem(error) || isTransient(error.cause));
