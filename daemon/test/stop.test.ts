/** How a stop treats what is open (contract "Streaming", setting `server.drain_limit_s`). */
import { get, type IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { QUIET_FILE, startGateway } from './harness/gateway.ts';

const eventStream = (port: number): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/api/events', agent: false }, resolve).on('error', reject);
  });

it('an open event stream ends as it should and holds up no stop', async () => {
  const gateway = await startGateway({ files: QUIET_FILE });
  try {
    const stream = await eventStream(gateway.port);
    const ended = new Promise((resolve) => stream.once('end', () => resolve(stream.complete)));
    stream.resume();
    const began = Date.now();
    expect(await gateway.stop()).toBe(0);
    expect(await ended).toBe(true);
    expect(Date.now() - began).toBeLessThan(7_000); // the drain limit is 15 s
  } finally {
    await gateway.stop('SIGKILL');
    gateway.remove();
  }
});
