import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { systemdNotifier } from './systemd-notify.ts';

/** Prints every datagram that a socket receives, between marks. perl is part of every Debian. */
const RECEIVER = `
use Socket;
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
bind($s, pack_sockaddr_un($ARGV[0])) or die;
$| = 1; print "bound\\n";
while (defined recv($s, my $text, 4096, 0)) { print "<$text>\\n" if length $text }
`;

const isInstalled = ['systemd-notify', 'perl'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
);
if (!isInstalled)
  console.warn('SKIPPED, there is no systemd-notify or no perl here: notifications to a real socket');

it('returns null without a socket', () => {
  expect(systemdNotifier(undefined)).toBeNull();
  expect(systemdNotifier('')).toBeNull();
});

it('returns false for an unused socket or a missing tool', async () => {
  expect(await systemdNotifier('/nonexistent/socket')?.(['READY=1'])).toBe(false);
  expect(await systemdNotifier('/nonexistent/socket', '/nonexistent')?.(['READY=1'])).toBe(false);
});

describe.skipIf(!isInstalled)('with a real socket', () => {
  it('assignments arrive in order, each on its own line, for any status', async () => {
    const folder = scratch();
    const socket = join(folder, 'notify');
    const receiver = spawn('perl', ['-e', RECEIVER, socket]);
    let text = '';
    receiver.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const expectReceived = (what: string) => expect.poll(() => text, { timeout: 10_000 }).toContain(what);
    try {
      await expectReceived('bound');
      expect(existsSync(socket)).toBe(true);
      const notify = systemdNotifier(socket);
      expect(await notify?.(['READY=1', 'STATUS=1 slot\nMAINPID=1'])).toBe(true);
      expect(await notify?.(['WATCHDOG=1'])).toBe(true);
      await expectReceived('<WATCHDOG=1>');
      expect(text).toContain('READY=1\nSTATUS=1 slot MAINPID=1');
      expect(text.indexOf('READY=1')).toBeLessThan(text.indexOf('WATCHDOG=1'));
    } finally {
      receiver.kill('SIGKILL');
    }
  });
});
