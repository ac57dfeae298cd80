const isOfSystem = (error: Error): error is NodeJS.ErrnoException => 'code' in error && 'syscall' in error;

/** Returns the system's reason for an unreadable file without its path. Null for any other error. */
export function readFault(error: unknown): string | null {
  if (!(error instanceof Error) || !isOfSystem(error)) return null;
  return error.code === 'ENOENT' ? 'the file does not exist' : `the file can't be read (${error.code})`;
}

/** A part of a model is missing. It may be added without a change of the files that were read. */
export class MissingPart extends Error {}

/**
 * Returns whether a system error or a missing part is the cause, also of a wrapping error. It says nothing about the file and
 * may be temporary.
 */
export const isTransient = (error: unknown): boolean =>
  error instanceof Error && (isOfSystem(error) || error instanceof MissingPart || isTransient(error.cause));
