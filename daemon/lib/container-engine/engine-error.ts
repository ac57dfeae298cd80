/** An engine of containers that refuses, or cannot be reached; the message is one line for people. */
export class ContainerEngineError extends Error {
  override readonly name = 'ContainerEngineError';
  /** The status of its answer; null when there was none. */
  readonly status: number | null;
  /** The code of the system, such as ENOENT or EACCES, when the socket could not be opened. */
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

/** The failure of a call as an error with a reason; a signal's own reason passes as it is. */
export function unreachable(cause: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  const code = (cause as NodeJS.ErrnoException | null)?.code;
  const known = typeof code === 'string' ? code : null;
  const timedOut = (cause as Error | null)?.name === 'TimeoutError';
  const why = timedOut ? 'it did not answer in time' : (REASONS[known ?? ''] ?? 'the connection broke');
  return new ContainerEngineError(`The container engine cannot be used: ${why}.`, null, known, { cause });
}
