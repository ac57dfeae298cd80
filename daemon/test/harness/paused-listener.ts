import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface ListeningSocket {
  /** Valid in this process; a child receives it at its index in `stdio`. */
  readonly fd: number;
  readonly port: number;
  close(): Promise<void>;
}

/** The thread blocks after it listens, so that this process never accepts a connection. */
const LISTENER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ host: '127.0.0.1', port: 0 }, () => {
    parentPort.postMessage({ fd: server._handle.fd, port: server.address().port });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

/** Opens a listening socket that outlives restarts of the gateway, as with a service manager. */
export async function openListeningSocket(): Promise<ListeningSocket> {
  const worker = new Worker(LISTENER, { eval: true });
  const [address] = (await once(worker, 'message')) as [{ fd: number; port: number }];
  return { ...address, close: () => worker.terminate().then(() => {}) };
}
