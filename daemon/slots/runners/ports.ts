import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

const MOST_TRIES = 20;

/** A port of the loopback address on which nobody listened a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** Hands out free ports, none of them twice at a time. */
export class Ports {
  readonly #free: () => Promise<number>;
  readonly #out = new Set<number>();

  constructor(free: () => Promise<number> = freePort) {
    this.#free = free;
  }

  /** A port until `give` is called with it. */
  async take(): Promise<number> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const port = await this.#free();
      if (this.#out.has(port)) continue;
      this.#out.add(port);
      return port;
    }
    throw new Error('no free port was found');
  }

  give(port: number): void {
    this.#out.delete(port);
  }
}
