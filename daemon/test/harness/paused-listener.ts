import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface HeldListener {
  /** Valid in this process; a child gets it by its place in `stdio`. */
  readonly fd: number;
  readonly port: number;
  close(): Promise<void>;
}

/** The thread sleeps once the socket listens, so that nobody of this process ever accepts from it. */
const HOLDER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ host: '127.0.0.1', port: 0 }, () => {
    parentPort.postMessage({ fd: server._handle.fd, port: server.address().port });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

/** A socket that listens and is kept over restarts of the gateway, as a service manager keeps one. */
export async function holdListener(): Promise<HeldListener> {
  const holder = new Worker(HOLDER, { eval: true });
  const [place] = (await once(holder, 'message')) as [{ fd: number; port: number }];
  return { ...place, close: () => holder.terminate().then(() => {}) };
}
