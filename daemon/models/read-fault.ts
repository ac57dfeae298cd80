const isOfSystem = (error: Error): error is NodeJS.ErrnoException => 'code' in error && 'syscall' in error;

/** What the system says when it does not let a file be read, without the path that its own text holds; null for any other error. */
export function readFault(error: unknown): string | null {
  if (!(error instanceof Error) || !isOfSystem(error)) return null;
  return error.code === 'ENOENT' ? 'the file does not exist' : `the file can't be read (${error.code})`;
}

/** Whether it was the system that failed, also beneath an error of ours: that says nothing of the file, and may pass. */
export const isTransient = (error: unknown): boolean =>
  error instanceof Error && (isOfSystem(error) || isTransient(error.cause));
