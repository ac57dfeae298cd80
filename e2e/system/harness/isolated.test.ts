import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenOnLoopback } from '../../../daemon/lib/testing/listening.ts';
import { scratch } from '../../../daemon/lib/testing/scratch.ts';
import { until } from '../../../daemon/lib/testing/until.ts';
import { freePort } from '../../../daemon/slots/runners/ports.ts';
import { endWell, startIsolated } from './isolated.ts';
import { relayTo } from './relay.ts';

const server = createServer((_, res) => res.end('hello'));
const refusing = createServer((_, res) => res.writeHead(401).end());
let port = 0;
beforeAll(async () => {
  port = await listenOnLoopback(server);
});
afterAll(() => {
  server.close();
  refusing.close();
});

const start = (code: string, limitMs = 30_000) => {
  const folder = scratch();
  const command = [process.execPath, '-e', code];
  return startIsolated(command, {
    ports: [port],
    env: { WORD: 'given' },
    home: folder,
    cwd: folder,
    limitMs,
  });
};

/** Whether a process runs. A zombie has ended. */
function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

describe('startIsolated', () => {
  it('reaches the port, with no other variables than those given', async () => {
    process.env.SVC_TEST_OTHER = 'secret';
    const code = `fetch('http://127.0.0.1:${port}').then((each) => each.text()).then((text) =>
      console.log(text, process.env.WORD, process.env.SVC_TEST_OTHER))`;
    expect(await endWell(await start(code))).toBe('hello given undefined\n');
    delete process.env.SVC_TEST_OTHER;
  });

  it.skipIf(!process.env.SVC_TEST_IP)('reaches nothing else', async () => {
    const other = createServer();
    const closed = await listenOnLoopback(other);
    const code = `require('node:net').connect(${closed}, '127.0.0.1').on('error', (error) => console.log(error.code))`;
    expect(await endWell(await start(code))).toBe('ECONNREFUSED\n');
    other.close();
  });

  it.skipIf(!process.env.SVC_TEST_IP)('counts attempts to reach something outside', async () => {
    const attempt = `require('node:net').connect(80, '192.0.2.1').on('error', (error) => console.log(error.code))`;
    const code = (first: string) => `${first}; setInterval(() => {}, 1000); console.log('ready')`;
    const quiet = await start(code(''));
    await until(() => quiet.output().includes('ready'), 'the program');
    expect(quiet.unroutable()).toBe(0);
    quiet.signal('SIGKILL');
    const curious = await start(code(attempt));
    await until(() => curious.output().includes('ENETUNREACH'), 'the attempt');
    expect(curious.unroutable()).toBeGreaterThan(0);
    curious.signal('SIGKILL');
    await Promise.all([quiet.ended, curious.ended]);
    expect(curious.unroutable()).toBeNull();
  });

  it('is reached at the port that it serves', async () => {
    const served = await freePort();
    const folder = scratch();
    const code = `require('node:http').createServer((_, res) => res.end('served')).listen(${served}, '127.0.0.1')`;
    const program = await startIsolated([process.execPath, '-e', code], {
      ...{ ports: [], serves: [served], env: {}, home: folder, cwd: folder, limitMs: 30_000 },
    });
    const text = () =>
      fetch(`http://127.0.0.1:${served}`).then(
        (each) => each.text(),
        () => '',
      );
    await until(async () => (await text()) === 'served', 'the program to answer');
    program.signal('SIGKILL');
    await program.ended;
    expect(await text()).toBe('');
  });

  it('reports the status and the output of a program that fails', async () => {
    const program = await start("console.error('broken'); process.exit(3)");
    expect(await program.ended).toEqual({ code: 3, isLate: false });
    await expect(endWell(program)).rejects.toThrow('ended with 3: broken');
  });

  it('kills a program that exceeds its time limit', async () => {
    const program = await start('setInterval(() => {}, 1000)', 300);
    expect(await program.ended).toMatchObject({ isLate: true });
    await expect(endWell(program)).rejects.toThrow('no end within its time limit');
  });

  it('ends helpers that the program left behind in a separate process group', async () => {
    const code = `const { spawn } = require('node:child_process');
      const helper = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
      helper.unref(); console.log(helper.pid)`;
    const pid = Number(await endWell(await start(code)));
    expect(pid).toBeGreaterThan(1);
    await until(() => !isRunning(pid), 'the helper to end', 10_000);
  });

  it('sends a signal to the program', async () => {
    const code =
      "process.on('SIGINT', () => process.exit(7)); setInterval(() => {}, 1000); console.log('ready')";
    const program = await start(code);
    await until(() => program.output().includes('ready'), 'the program to start', 20_000);
    program.signal('SIGINT');
    expect(await program.ended).toEqual({ code: 7, isLate: false });
  });
});

describe('relayTo', () => {
  it('records when an answer with a status began and when a client left', async () => {
    const relay = await relayTo(await listenOnLoopback(refusing));
    const response = await fetch(relay.url);
    expect([response.status, relay.answeredAt(200)]).toEqual([401, null]);
    expect(relay.answeredAt(401)).toBeLessThanOrEqual(performance.now());
    relay.reset();
    expect([relay.answeredAt(401), relay.leftAt()]).toEqual([null, null]);
    await relay.stop();
  });

  it('records a client that leaves before the answer', async () => {
    const leaving = new AbortController();
    const silent = createServer(() => leaving.abort());
    const relay = await relayTo(await listenOnLoopback(silent));
    expect(await fetch(relay.url, { signal: leaving.signal }).catch(() => 'left')).toBe('left');
    await until(() => relay.leftAt() !== null, 'the relay to notice', 10_000);
    await relay.stop();
    silent.close();
  });
});
