/** M03: more callers than the gateway has file descriptors, which prlimit of util-linux takes away from it. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startLocked, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openFiles } from './harness/open-files.ts';

const gateway = new OneGateway(() => startLocked({ env: { SVC_LOG_LEVEL: 'info' } }), { end: 'SIGKILL' });

const healthy = async () => (await ask(gateway, 'GET', '/api/health')).status === 200;

const HAS_PRLIMIT = spawnSync('prlimit', ['--version']).status === 0;
if (!HAS_PRLIMIT) console.warn('SKIPPED, this host has no prlimit to take descriptors away with');

/** Connections that stay silent, and those of them that the gateway has closed. */
function callers(count: number): { sockets: Socket[]; closed: () => number } {
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

  it('who comes is turned away, the process neither ends nor spins, and serves again', async () => {
    const agent = new Agent({ keepAlive: true });
    expect((await ask(gateway, 'GET', '/api/health', { agent })).status).toBe(200);
    const [before, usual] = [openFiles(gateway.pid).all, soft()];
    expect(limit(before + 4)).toBe(0);
    const { sockets, closed } = callers(60);
    await until(() => closed() > 0, 'callers to be turned away');
    expect((await ask(gateway, 'GET', '/api/health', { agent })).status).toBe(200);
    expect(openFiles(gateway.pid).all).toBeLessThanOrEqual(before + 5);
    for (const socket of sockets) socket.destroy();
    expect(limit(usual)).toBe(0);
    await until(healthy, 'the next caller to be served');
    expect(openFiles(gateway.pid).all).toBeLessThanOrEqual(before + 5);
    expect(gateway.output()).not.toMatch(/unexpected/);
    agent.destroy();
  });
});
