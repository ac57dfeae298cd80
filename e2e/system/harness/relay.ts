import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '../../../daemon/lib/testing/listening.ts';

export interface Relay {
  readonly port: number;
  readonly url: string;
  /** When a client last closed its connection before the server did, in ms of `performance.now()`; null when none has. */
  leftAt(): number | null;
  /** When the first answer with this status began, in ms of `performance.now()`; null when there was none. */
  answeredAt(status: number): number | null;
  /** Forgets all times. */
  reset(): void;
  stop(): Promise<void>;
}

const STATUS = /^HTTP\/1\.1 (\d{3}) /;

/** Starts a listener that forwards every connection to a port of the loopback and records when clients leave and are refused. */
export async function relayTo(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const answered = new Map<number, number>();
  let leftAt: number | null = null;

  const server = createServer((client) => {
    const remote = connect(target, '127.0.0.1');
    let hasEnded = false;
    for (const socket of [client, remote]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    }
    remote.on('data', (chunk: Buffer) => {
      const status = Number(STATUS.exec(chunk.toString('latin1', 0, 20))?.[1]);
      if (status && !answered.has(status)) answered.set(status, performance.now());
    });
    remote.once('close', () => {
      hasEnded = true;
      client.destroy();
    });
    for (const event of ['end', 'close']) {
      client.once(event, () => {
        if (!hasEnded) leftAt = performance.now();
        hasEnded = true;
        remote.destroy();
      });
    }
    client.pipe(remote, { end: false });
    remote.pipe(client);
  });
  const port = await listenOnLoopback(server, 0);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    leftAt: () => leftAt,
    answeredAt: (status) => answered.get(status) ?? null,
    reset: () => {
      leftAt = null;
      answered.clear();
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
