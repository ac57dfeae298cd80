import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { listenOnLoopback } from '../../lib/testing/listening.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { listeners, portOwner } from './port-owner.ts';
import { freePort, Ports } from './ports.ts';

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const row = (port: number, inode: number, state = '0A') => {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return `   0: 0100007F:${hex} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`;
};

let proc: string;
beforeEach(() => {
  proc = scratch();
  mkdirSync(join(proc, 'net'));
});

function table(...rows: string[]): void {
  writeFileSync(join(proc, 'net/tcp'), HEAD + rows.join(''));
}
function addProcess(pid: number, session: number, inode: number): void {
  mkdirSync(join(proc, String(pid), 'fd'), { recursive: true });
  writeFileSync(join(proc, String(pid), 'stat'), `${pid} (a) b) S 1 ${pid} ${session} 0 -1 0 0`);
  symlinkSync(`socket:[${inode}]`, join(proc, String(pid), 'fd', '3'));
}

it('only listening sockets of that port count', () => {
  const text = HEAD + row(8080, 1) + row(8080, 2, '01') + row(18_080, 3) + row(80, 4);
  expect(listeners(text, 8080)).toEqual(['1']);
});

describe('the owner of a port', () => {
  it('is none, own, or foreign', () => {
    table(row(8080, 11), row(9090, 12));
    addProcess(100, 100, 11);
    addProcess(200, 200, 12);
    expect(portOwner(7070, 100, proc)).toBe('none');
    expect(portOwner(8080, 100, proc)).toBe('own');
    expect(portOwner(9090, 100, proc)).toBe('foreign');
  });

  it('is own when a child of the session listens, and foreign when two share the port', () => {
    table(row(8080, 11), row(8080, 12));
    addProcess(101, 100, 11);
    addProcess(200, 200, 12);
    expect(portOwner(8080, 100, proc)).toBe('foreign');
    table(row(8080, 11));
    expect(portOwner(8080, 100, proc)).toBe('own');
  });

  it('is foreign when the kernel hides the process, and unknown when it reports nothing', () => {
    table(row(8080, 99));
    expect(portOwner(8080, 100, proc)).toBe('foreign');
    expect(portOwner(8080, 100, join(proc, 'absent'))).toBe('unknown');
  });

  it('of a real listener is its own session', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, done));
    const { port } = server.address() as { port: number };
    expect(portOwner(port, 999_999_999)).toBe('foreign');
    await new Promise((done) => server.close(done));
    expect(portOwner(port, 1)).toBe('none');
  });
});

describe('free ports', () => {
  it('are assigned to one holder at a time', async () => {
    const offered = [5000, 5000, 5000, 5001, 5000];
    const ports = new Ports(async () => offered.shift() as number);
    expect([await ports.acquire(), await ports.acquire()]).toEqual([5000, 5001]);
    ports.release(5000);
    expect(await ports.acquire()).toBe(5000);
  });

  it('cause an error when none is found', async () => {
    const ports = new Ports(async () => 5000);
    await ports.acquire();
    await expect(ports.acquire()).rejects.toThrow('no free port');
  });

  it('can be listened on', async () => {
    const port = await freePort();
    const server = createServer();
    await listenOnLoopback(server, port);
    await new Promise((done) => server.close(done));
    expect(port).toBeGreaterThan(1023);
  });
});
