import type { ServerResponse } from 'node:http';

/** Returns a signal that is aborted when the caller disconnects before the response is complete. */
export function disconnectSignal(res: ServerResponse): AbortSignal {
  const control = new AbortController();
  res.once('close', () => {
    if (!res.writableEnded) control.abort(new DOMException('the caller disconnected', 'AbortError'));
  });
  return control.signal;
}
