/** How a stop treats what is open (contract "Streaming", setting `server.drain_limit_s`). */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { QUIET_FILE, startGateway } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

/** Far below the drain limit of 15 s, far above what a stop costs. */
const SOON_MS = 7_000;
const gateway = new OneGateway(() => startGateway({ files: QUIET_FILE }), { each: true, end: 'SIGKILL' });

async function expectSoon(): Promise<void> {
  const began = Date.now();
  expect(await gateway.stop()).toBe(0);
  expect(Date.now() - began).toBeLessThan(SOON_MS);
}

const eventStream = (port: number): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/api/events', agent: false }, resolve).on('error', reject);
  });

it('an open event stream ends as it should and holds up no stop', async () => {
  const stream = await eventStream(gateway.port);
  const ended = new Promise((resolve) => stream.once('end', () => resolve(stream.complete)));
  stream.resume();
  await expectSoon();
  expect(await ended).toBe(true);
});

it('connections that were opened ahead of need or are kept alive hold up no stop', async () => {
  const ahead = connect(gateway.port, '127.0.0.1');
  ahead.on('error', () => {});
  await once(ahead, 'connect');
  const agent = new Agent({ keepAlive: true });
  expect((await ask(gateway, 'GET', '/api/health', { agent })).status).toBe(200);
  await expectSoon();
  agent.destroy();
});
