/** A stop with open requests (docs/spec/contract.md#shutdown, setting `server.drain_limit_s`). */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { QUIET_FILE, startGateway, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openListeningSocket } from './harness/paused-listener.ts';

const LONG_DRAIN = { 'config/config.toml': '[server]\ndrain_limit_s = 120\n' };
/** Far below the drain limit, far above the duration of a stop. */
const SOON_MS = 30_000;
const gateway = new OneGateway(() => startGateway({ files: { ...QUIET_FILE, ...LONG_DRAIN } }), {
  each: true,
  stopSignal: 'SIGKILL',
});

async function expectQuickStop(stopped = gateway.stop()): Promise<void> {
  const startedAt = Date.now();
  expect(await stopped).toBe(0);
  expect(Date.now() - startedAt).toBeLessThan(SOON_MS);
}

const eventStream = (port: number): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/api/events', agent: false }, resolve).on('error', reject);
  });

it('an open event stream ends cleanly and does not delay a stop', async () => {
  const stream = await eventStream(gateway.port);
  const ended = new Promise((resolve) => stream.once('end', () => resolve(stream.complete)));
  stream.resume();
  await expectQuickStop();
  expect(await ended).toBe(true);
});

it('idle and keep-alive connections do not delay a stop', async () => {
  const idle = connect(gateway.port, '127.0.0.1');
  idle.on('error', () => {});
  await once(idle, 'connect');
  const agent = new Agent({ keepAlive: true });
  expect((await send(gateway, 'GET', '/api/health', { agent })).status).toBe(200);
  await expectQuickStop();
  agent.destroy();
});

it('with a listener of the service manager, a WebSocket that opens during the stop does not delay it', async () => {
  const listener = await openListeningSocket();
  await gateway.stop('SIGKILL');
  const { home } = gateway;
  await gateway.replace(() => startGateway({ home, listenFd: listener.fd }));
  const late = connect(listener.port, '127.0.0.1');
  late.on('error', () => {});
  let text = '';
  late.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await once(late, 'connect');
  late.write('GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await until(() => text.includes('{'), 'a first answer');
  text = '';
  late.write('GET /v1/realtime HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n');
  await pause(200);
  const stopped = gateway.stop();
  await gateway.waitFor('"event":"stopping"');
  await pause(100);
  const key = Buffer.alloc(16).toString('base64');
  late.write(`connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`);
  await expectQuickStop(stopped);
  expect(text).toMatch(/^HTTP\/1\.1 [45]/);
  late.destroy();
  await listener.close();
});
