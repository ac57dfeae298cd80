/** Groups P and S of the catalogue: what signals do to the gateway, its streams and its engines. */
import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import { alive, descendants } from './harness/descendants.ts';
import { startGateway, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { holdListener } from './harness/paused-listener.ts';
import { slotState } from './harness/slots.ts';
import { flowing, startTiny } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';
const HANDSHAKE = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.alloc(16).toString('base64'),
};
const gateway = new OneGateway(startTiny, { each: true, end: 'SIGKILL' });

const gone = (pids: readonly number[], limitMs: number) =>
  until(() => !pids.some(alive), 'every process of the gateway to be gone', limitMs);

describe('S10 SIGTERM', () => {
  it('lets a stream end whole, turns away who comes, and leaves no process and exit code 0', async () => {
    const kept = new Agent({ keepAlive: true });
    await ask(gateway, 'GET', '/api/health', { agent: kept });
    const streamed = await flowing(gateway, 'agent', 6_000);
    const pids = descendants(gateway.pid).map(({ pid }) => pid);
    const stopped = gateway.stop('SIGTERM');
    await gateway.waitFor('"event":"stopping"');
    const body = { messages: [{ role: 'user', content: 'x' }] };
    for (const refused of [
      await ask(gateway, 'GET', '/api/health'),
      await ask(gateway, 'POST', CHAT, { body }),
      await ask(gateway, 'GET', '/v1/models', { agent: kept }),
      await ask(gateway, 'GET', '/v1/realtime', { headers: HANDSHAKE }),
    ]) {
      expect(refused).toMatchObject({ status: 503, code: 'slot.draining' });
      expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '5' });
      expect(refused.headers['x-request-id']).toEqual(expect.any(String));
    }
    kept.destroy();
    expect(await streamed.ended).toBe(true);
    expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await stopped).toBe(0);
    const closed = await ask(gateway, 'GET', '/api/health').catch((error: { code: string }) => error.code);
    expect(closed).toBe('ECONNREFUSED');
    await gone(pids, 2_000);
  });

  it('a listener of the service manager keeps who comes for the next start', async () => {
    const held = await holdListener();
    const home = gateway.home;
    await gateway.stop('SIGKILL');
    const start = () => startGateway({ home, listenFd: held.fd, env: { SVC_MODEL: `${home}/tiny.gguf` } });
    await gateway.again(start);
    await slotState(gateway, 'agent', 'ready');
    const streamed = await flowing(gateway, 'agent', 6_000);
    const stopped = gateway.stop('SIGTERM');
    await gateway.waitFor('"event":"stopping"');
    const waiting = ask(gateway, 'GET', '/api/health', { silenceMs: 60_000 });
    expect(await streamed.ended).toBe(true);
    expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await stopped).toBe(0);
    await gateway.again(start);
    expect((await waiting).status).toBe(200);
    await held.close();
  });

  it('P07 twice, and SIGINT after it, is one stop', async () => {
    const streamed = await flowing(gateway, 'agent', 3_000);
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
  it('SIGHUP looks at the machine again', async () => {
    const probedAt = async () =>
      (await ask(gateway, 'GET', '/api/hardware')).json<{ probed_at: number }>().probed_at;
    const before = await probedAt();
    gateway.signal('SIGHUP');
    await until(async () => (await probedAt()) > before, 'the machine to be looked at again');
  });

  it('SIGHUP and SIGPIPE cut nothing, and SIGUSR1 opens no inspector', async () => {
    const streamed = await flowing(gateway, 'agent', 3_000);
    for (const signal of ['SIGHUP', 'SIGPIPE', 'SIGUSR1'] as const) gateway.signal(signal);
    expect(await streamed.ended).toBe(true);
    expect(streamed.text()).toContain('[DONE]');
    expect((await ask(gateway, 'GET', '/api/health')).status).toBe(200);
    expect(gateway.output()).not.toContain('Debugger listening');
  });
});

describe('P05 P06 kill -9 under load', () => {
  it('leaves no process of ours behind, and the next start serves', async () => {
    const streamed = await flowing(gateway, 'agent', 30_000);
    const pids = descendants(gateway.pid).map(({ pid }) => pid);
    expect(pids.length).toBeGreaterThanOrEqual(1);
    await gateway.stop('SIGKILL');
    expect(await streamed.ended).toBe(false);
    await gone(pids, 10_000);
    const again = await startGateway({ home: gateway.home, env: { SVC_MODEL: `${gateway.home}/tiny.gguf` } });
    await slotState(again, 'agent', 'ready');
    const body = { messages: [{ role: 'user', content: 'x' }], max_tokens: 1, temperature: 0 };
    const answer = await ask(again, 'POST', CHAT, { body });
    expect(answer.json()).toMatchObject({ choices: [{ message: { content: 'y' } }] });
    await again.stop();
  });
});
