/** Thrown when a container engine refuses a call or cannot be reached. The message is one line for users. */
export class ContainerEngineError extends Error {
  override readonly name = 'ContainerEngineError';
  /** Status of the response, or null without one. */
  readonly status: number | null;
  /** System error code such as ENOENT or EACCES when the socket could not be opened. */
  readonly code: string | null;

  constructor(message: string, status: number | null, code: string | null = null, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its socket is absent',
  EACCES: 'this process may not open its socket',
  EPERM: 'this process may not open its socket',
  ECONNREFUSED: 'nothing listens on its socket',
};

/**
 * Converts the failure of a call to an error with a reason. The reason of an aborted signal is returned
 * unchanged.
 */
export function unreachable(cause: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  const code = (cause as NodeJS.ErrnoException | null)?.code;
  const known = typeof code === 'string' ? code : null;
  const timedOut = (cause as Error | null)?.name === 'TimeoutError';
  const why = timedOut ? 'it did not answer in time' : (REASONS[known ?? ''] ?? 'the connection broke');
  return new ContainerEngineError(`The container engine cannot be used: ${why}.`, null, known, { cause });
}
