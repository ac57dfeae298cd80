/** M03: more connections than file descriptors, limited with prlimit of util-linux. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startLocked, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openFiles } from './harness/open-files.ts';

const gateway = new OneGateway(() => startLocked({ env: { SVC_LOG_LEVEL: 'info' } }), {
  stopSignal: 'SIGKILL',
});

const healthy = async () => (await send(gateway, 'GET', '/api/health')).status === 200;

const HAS_PRLIMIT = spawnSync('prlimit', ['--version']).status === 0;
if (!HAS_PRLIMIT) console.warn('SKIPPED, this host has no prlimit');

/** Opens idle connections and counts those that the gateway closes. */
function openConnections(count: number): { sockets: Socket[]; closed: () => number } {
  let closed = 0;
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('close', () => {
      closed += 1;
    });
    return socket;
  });
  return { sockets, closed: () => closed };
}

describe.skipIf(!HAS_PRLIMIT)('M03 no descriptor left', () => {
  const limit = (most: number) =>
    spawnSync('prlimit', ['--pid', String(gateway.pid), `--nofile=${most}:`]).status;
  const soft = () =>
    Number(/Max open files\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/limits`, 'utf8'))?.[1]);

  it('new connections are closed, the process neither exits nor loops, and serves again', async () => {
    const agent = new Agent({ keepAlive: true });
    expect((await send(gateway, 'GET', '/api/health', { agent })).status).toBe(200);
    const [before, usual] = [openFiles(gateway.pid).all, soft()];
    expect(limit(before + 4)).toBe(0);
    const { sockets, closed } = openConnections(60);
    await until(() => closed() > 0, 'connections to be closed');
    expect((await send(gateway, 'GET', '/api/health', { agent })).status).toBe(200);
    expect(openFiles(gateway.pid).all).toBeLessThanOrEqual(before + 5);
    for (const socket of sockets) socket.destroy();
    expect(limit(usual)).toBe(0);
    await until(healthy, 'the next request to be served');
    expect(openFiles(gateway.pid).all).toBeLessThanOrEqual(before + 5);
    expect(gateway.output()).not.toMatch(/unexpected/);
    agent.destroy();
  });
});
