/** Groups P and S of the catalogue: effects of signals on the gateway, its streams and its engines. */
import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { descendants, isAlive } from './harness/descendants.ts';
import { startGateway, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openListeningSocket } from './harness/paused-listener.ts';
import { waitForSlotState } from './harness/slots.ts';
import { startLongStream, startTiny } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';
const HANDSHAKE = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.alloc(16).toString('base64'),
};
/** On a busy machine a stream takes longer than the default limit. */
const LONG_DRAIN = { 'config/config.toml': '[server]\ndrain_limit_s = 120\n' };
const gateway = new OneGateway(() => startTiny({ files: LONG_DRAIN }), {
  each: true,
  stopSignal: 'SIGKILL',
});

const waitUntilEnded = (pids: readonly number[], limitMs: number) =>
  until(() => !pids.some(isAlive), 'every process of the gateway to end', limitMs);

describe('S10 SIGTERM', () => {
  it('completes a stream, rejects new requests, leaves no process, exits with 0', async () => {
    const keepAliveAgent = new Agent({ keepAlive: true });
    await send(gateway, 'GET', '/api/health', { agent: keepAliveAgent });
    const streamed = await startLongStream(gateway, 'agent', 6_000);
    const pids = descendants(gateway.pid).map(({ pid }) => pid);
    const stopped = gateway.stop('SIGTERM');
    await gateway.waitFor('"event":"stopping"');
    const body = { messages: [{ role: 'user', content: 'x' }] };
    for (const refused of [
      await send(gateway, 'GET', '/api/health'),
      await send(gateway, 'POST', CHAT, { body }),
      await send(gateway, 'GET', '/v1/models', { agent: keepAliveAgent }),
      await send(gateway, 'GET', '/v1/realtime', { headers: HANDSHAKE }),
    ]) {
      expect(refused).toMatchObject({ status: 503, code: 'slot.draining' });
      expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '5' });
      expect(refused.headers['x-request-id']).toEqual(expect.any(String));
    }
    keepAliveAgent.destroy();
    expect(await streamed.ended).toBe(true);
    expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await stopped).toBe(0);
    const closed = await send(gateway, 'GET', '/api/health').catch((error: { code: string }) => error.code);
    expect(closed).toBe('ECONNREFUSED');
    await waitUntilEnded(pids, 10_000);
  });

  it('a listener of the service manager queues new connections for the next start', async () => {
    const listener = await openListeningSocket();
    const home = gateway.home;
    await gateway.stop('SIGKILL');
    const start = () =>
      startGateway({ home, listenFd: listener.fd, env: { SVC_MODEL: `${home}/tiny.gguf` } });
    await gateway.replace(start);
    await waitForSlotState(gateway, 'agent', 'ready');
    const streamed = await startLongStream(gateway, 'agent', 6_000);
    const stopped = gateway.stop('SIGTERM');
    await gateway.waitFor('"event":"stopping"');
    const queuedRequest = send(gateway, 'GET', '/api/health', { idleTimeoutMs: 60_000 });
    expect(await streamed.ended).toBe(true);
    expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await stopped).toBe(0);
    await gateway.replace(start);
    expect((await queuedRequest).status).toBe(200);
    await listener.close();
  });

  it('P07 twice, followed by SIGINT, is one stop', async () => {
    const streamed = await startLongStream(gateway, 'agent', 3_000);
    const stopped = gateway.stop('SIGTERM');
    gateway.signal('SIGTERM');
    gateway.signal('SIGINT');
    expect(await streamed.ended).toBe(true);
    expect(streamed.text()).toContain('[DONE]');
    expect(await stopped).toBe(0);
    expect(gateway.output().match(/"event":"stopping"/g)).toHaveLength(1);
  });
});

describe('P07 signals that end nothing', () => {
  it('SIGHUP probes the hardware again', async () => {
    const probedAt = async () =>
      (await send(gateway, 'GET', '/api/hardware')).json<{ probed_at: number }>().probed_at;
    const before = await probedAt();
    gateway.signal('SIGHUP');
    await until(async () => (await probedAt()) > before, 'the hardware to be probed again');
  });

  it.each(['SIGHUP', 'SIGPIPE', 'SIGUSR1', 'SIGUSR2'] as const)('%s interrupts nothing', async (signal) => {
    const streamed = await startLongStream(gateway, 'agent', 1_000);
    gateway.signal(signal);
    expect(await streamed.ended).toBe(true);
    expect(streamed.text()).toContain('[DONE]');
    expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
    expect(gateway.output()).not.toContain('Debugger listening');
  });

  it('a suspended process that continues interrupts nothing', async () => {
    const streamed = await startLongStream(gateway, 'agent', 1_000);
    gateway.signal('SIGSTOP');
    await setTimeout(500);
    gateway.signal('SIGCONT');
    expect(await streamed.ended).toBe(true);
    expect(streamed.text()).toContain('[DONE]');
  });
});

describe('P05 P06 kill -9 under load', () => {
  it('leaves no process behind, and the next start serves', async () => {
    const streamed = await startLongStream(gateway, 'agent', 30_000);
    const pids = descendants(gateway.pid).map(({ pid }) => pid);
    expect(pids.length).toBeGreaterThanOrEqual(1);
    await gateway.stop('SIGKILL');
    expect(await streamed.ended).toBe(false);
    await waitUntilEnded(pids, 10_000);
    const again = await startGateway({ home: gateway.home, env: { SVC_MODEL: `${gateway.home}/tiny.gguf` } });
    await waitForSlotState(again, 'agent', 'ready');
    const body = { messages: [{ role: 'user', content: 'x' }], max_tokens: 1, temperature: 0 };
    const response = await send(again, 'POST', CHAT, { body });
    expect(response.json()).toMatchObject({ choices: [{ message: { content: 'y' } }] });
    await again.stop();
  });
});
