/** The parser of strace's output (daemon/test/harness/strace.ts) on captured lines. */
import { describe, expect, it } from 'vitest';
import { callsIn, isBelow, widened } from '../../../daemon/test/harness/strace.ts';

const ROOT = '/dev/shm/r';
const LIST = `4728  openat(AT_FDCWD</work>, "/lib/libc.so.6", O_RDONLY|O_CLOEXEC) = 3</usr/lib/libc.so.6>
4728  openat(AT_FDCWD</work>, "/dev/shm/r/svc.db", O_WRONLY|O_CREAT|O_EXCL|O_CLOEXEC, 0600) = 21</dev/shm/r/svc.db>
4728  openat(AT_FDCWD</work>, "/dev/shm/r/svc.db", O_RDWR|O_CREAT|O_NOFOLLOW|O_CLOEXEC, 0644) = 21</dev/shm/r/svc.db>
4728  pwrite64(21</dev/shm/r/svc.db>, ""..., 4096, 0 <unfinished ...>
4730  openat(AT_FDCWD</work>, "/dev/shm/r/a.tmp", O_WRONLY|O_CREAT, 0600) = 22</dev/shm/r/a.tmp>
4728  <... pwrite64 resumed>)           = -1 ENOSPC (No space left on device) (INJECTED)
4728  pwrite64(21</dev/shm/r/svc.db>, ""..., 4096, 4096) = 4096
4730  rename("/dev/shm/r/a.tmp", "/dev/shm/r/a") = 0
4728  --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER} ---
4728  +++ exited with 0 +++
`;

describe('the parsed output of strace', () => {
  const calls = callsIn(LIST);

  it('numbers calls by thread and name, each with its paths', () => {
    expect(calls.map(({ name, nth, failed, hit }) => [name, nth, failed, hit])).toEqual([
      ['openat', 1, false, false],
      ['openat', 2, false, false],
      ['openat', 3, false, false],
      ['pwrite64', 1, true, true],
      ['openat', 1, false, false],
      ['pwrite64', 2, false, false],
      ['rename', 1, false, false],
    ]);
    expect(calls.at(-1)?.paths).toEqual(['/dev/shm/r/a.tmp', '/dev/shm/r/a']);
    expect(calls.map((call) => isBelow(ROOT, call))).toEqual([false, true, true, true, true, true, true]);
    expect(calls.map((call) => isBelow('/dev/shm', call))[0]).toBe(false);
    expect(calls.some((call) => isBelow('/dev/shm/r/a', { ...call, paths: ['/dev/shm/r/a.tmp'] }))).toBe(
      false,
    );
  });

  it('lists files that become accessible to others, and nothing else', () => {
    expect(widened(calls, ROOT, [])).toEqual([]);
    const wide = [
      'openat(AT_FDCWD</w>, "/dev/shm/r/k", O_WRONLY|O_CREAT, 0644) = 3</dev/shm/r/k>',
      'fchmod(3</dev/shm/r/k>, 0640) = 0',
      'mkdir("/dev/shm/r/f", 0755) = 0',
    ];
    const others = [
      'openat(AT_FDCWD</w>, "/dev/shm/r/old", O_RDWR|O_CREAT, 0644) = 3</dev/shm/r/old>',
      'openat(AT_FDCWD</w>, "/dev/shm/r/x", O_WRONLY|O_CREAT, 0644) = -1 EIO (Input/output error) (INJECTED)',
      'openat(AT_FDCWD</w>, "/dev/shm/else", O_WRONLY|O_CREAT, 0644) = 3</dev/shm/else>',
      'fchmod(3</dev/shm/r/k>, 0600) = 0',
    ];
    const all = callsIn([...wide, ...others].map((line) => `7 ${line}`).join('\n'));
    expect(widened(all, ROOT, ['/dev/shm/r/old'])).toEqual(wide);
  });
});
