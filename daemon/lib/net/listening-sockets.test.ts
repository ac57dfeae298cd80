import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchOfFile } from '../testing/scratch.ts';
import { listeningSockets, readListening } from './listening-sockets.ts';

const folder = scratchOfFile();
const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const line = (at: number, port: string, state: string) =>
  `${String(at).padStart(4)}: 0100007F:${port} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${at} 1`;

/** A socket table in a file with lines from the test. */
function table(lines: readonly string[]): string {
  const file = join(folder, 'tcp');
  writeFileSync(file, `${[HEAD, ...lines].join('\n')}\n`);
  return file;
}

describe('listening sockets', () => {
  it('are returned with their fields', () => {
    const text = readListening(table([line(0, '1F90', '0A'), line(1, '1F91', '0A'), line(2, '1F90', '01')]));
    expect(
      listeningSockets(text ?? '').map(([, local, , , , , , user, , inode]) => [local, user, inode]),
    ).toEqual([
      ['0100007F:1F90', '1000', '0'],
      ['0100007F:1F91', '1000', '1'],
    ]);
  });

  it('are found in a table with a hundred thousand other sockets', () => {
    const others = Array.from({ length: 100_000 }, (_, at) => line(at, '1F90', '06'));
    const text = readListening(table([line(0, '1F90', '0A'), ...others])) ?? '';
    expect(listeningSockets(text)).toHaveLength(1);
    expect(text.length).toBeLessThan(1 << 17);
  });

  it('are found on many pages', () => {
    const many = Array.from({ length: 5_000 }, (_, at) => line(at, '1F90', '0A'));
    expect(listeningSockets(readListening(table(many)) ?? '')).toHaveLength(5_000);
  });

  it('are empty for an empty table, and null without a table', () => {
    expect(listeningSockets(readListening(table([])) ?? '')).toEqual([]);
    expect(readListening(join(folder, 'none'))).toBeNull();
    expect(readListening(folder)).toBeNull();
  });

  it.skipIf(process.platform !== 'linux')('precede all other sockets on this kernel', async () => {
    const servers = Array.from({ length: 60 }, () => createServer((socket) => socket.resume()));
    for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    const sockets = ports.slice(0, 30).map((port) => connect(port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const found = new Set(
      listeningSockets(readListening('/proc/net/tcp') ?? '').map(([, local = '']) =>
        Number.parseInt(local.split(':')[1] ?? '', 16),
      ),
    );
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    expect(ports.filter((port) => !found.has(port))).toEqual([]);
  });
});
