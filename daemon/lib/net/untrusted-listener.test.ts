import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { trustedUsers, untrustedListener } from './untrusted-listener.ts';

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const LOOPBACK = '0100007F';
const LOOPBACK6 = '00000000000000000000000001000000';
const MAPPED = '0000000000000000FFFF00000100007F';
const LAN = '0901A8C0';
const ANY = '00000000';
const ANY6 = '00000000000000000000000000000000';

/** A `/proc` with these sockets (address, user, state), at port 8080 by default. */
function procOf(...sockets: [address: string, user: number, state?: string, port?: number][]): string {
  const proc = scratch();
  mkdirSync(join(proc, 'net'));
  const lines = (six: boolean) =>
    sockets
      .filter(([address]) => address.length > 8 === six)
      .map(([address, user, state = '0A', port = 8080], at) => {
        const local = `${address}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
        return `   ${at}: ${local} ${six ? ANY6 : ANY}:0000 ${state} 00000000:00000000 00:00000000 00000000  ${user}        0 624 1 0000 100 0 0 10 0\n`;
      });
  writeFileSync(join(proc, 'net/tcp'), HEAD + lines(false).join(''));
  writeFileSync(join(proc, 'net/tcp6'), HEAD + lines(true).join(''));
  return proc;
}

const TRUSTED = new Set([0, 900]);
const UNTRUSTED = 'user 1001, whose process listens on port 8080';
const LOCAL_URL = 'http://127.0.0.1:8080';

it.each<[string, string, string | null, ...Parameters<typeof procOf>]>([
  ['no listener', LOCAL_URL, null],
  ['a trusted one', LOCAL_URL, null, [LOOPBACK, 900]],
  ['an untrusted user', LOCAL_URL, UNTRUSTED, [LOOPBACK, 1001]],
  ['an untrusted user on every address', LOCAL_URL, UNTRUSTED, [ANY, 1001]],
  ['an untrusted user on every address of both families', LOCAL_URL, UNTRUSTED, [ANY6, 1001]],
  ['an untrusted user by a mapped address', LOCAL_URL, UNTRUSTED, [MAPPED, 1001]],
  ['an untrusted user at another port', LOCAL_URL, null, [LOOPBACK, 1001, '0A', 8081]],
  ['an untrusted user on another address', LOCAL_URL, null, [LAN, 1001], [LOOPBACK, 900]],
  [
    'an untrusted user whose listener accepts only other addresses',
    LOCAL_URL,
    null,
    [ANY6, 1001],
    [LOOPBACK, 900],
  ],
  ['an untrusted client', LOCAL_URL, null, [LOOPBACK, 1001, '01']],
  [
    'an untrusted user at the other address of localhost',
    'http://localhost:8080',
    UNTRUSTED,
    [LOOPBACK, 900],
    [LOOPBACK6, 1001],
  ],
  ['an untrusted user at some address of a name', 'http://box:8080', UNTRUSTED, [LOOPBACK, 900], [LAN, 1001]],
  ['an untrusted user at IPv6', 'http://[::1]:8080/x', UNTRUSTED, [LOOPBACK6, 1001]],
  [
    'an untrusted user at the usual port',
    'https://127.0.0.1',
    'user 1001, whose process listens on port 443',
    [LOOPBACK, 1001, '0A', 443],
  ],
])('%s', (_who, url, expected, ...sockets) => {
  expect(untrustedListener(url, TRUSTED, procOf(...sockets))).toBe(expected);
});

it('returns null without kernel data, and for text that is not an address', () => {
  expect(untrustedListener(LOCAL_URL, TRUSTED, '/nowhere')).toBeNull();
  expect(untrustedListener('nothing', TRUSTED)).toBeNull();
});

it('trusts root, the current user and the owners of existing paths', () => {
  const folder = scratch();
  const own = process.geteuid?.() as number;
  expect([...trustedUsers([folder, join(folder, 'nothing')])].sort()).toEqual([...new Set([0, own])].sort());
});

it.runIf(process.geteuid?.() === 0)('detects a real listener of another user', async () => {
  const program = `require('node:net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  const child = spawn('/proc/self/exe', ['-e', program], {
    uid: 65534,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  expect(untrustedListener(`http://127.0.0.1:${port}`, trustedUsers([]))).toBe(
    `user 65534, whose process listens on port ${port}`,
  );
});
