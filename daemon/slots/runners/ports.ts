import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

const MAX_TRIES = 20;

/** Returns a loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** Hands out free ports, each to one holder at a time. */
export class Ports {
  readonly #findFree: () => Promise<number>;
  readonly #acquired = new Set<number>();

  constructor(findFree: () => Promise<number> = freePort) {
    this.#findFree = findFree;
  }

  /** Acquires a port until `release` is called with it. */
  async acquire(): Promise<number> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const port = await this.#findFree();
      if (this.#acquired.has(port)) continue;
      this.#acquired.add(port);
      return port;
    }
    throw new Error('no free port was found');
  }

  release(port: number): void {
    this.#acquired.delete(port);
  }
}
