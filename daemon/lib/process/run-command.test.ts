import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { runCommand } from './run-command.ts';

const LIMITS = { timeoutMs: 5000, maxBytes: 1000 };
const script = (code: string) => ['-e', code];
let folder: string;

beforeEach(() => {
  folder = scratch();
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

test('returns exit status and both outputs', async () => {
  const code = 'console.log("out"); console.error("err"); process.exitCode = 3';
  const result = await runCommand(process.execPath, script(code), LIMITS);
  expect(result).toEqual({ code: 3, stdout: 'out\n', stderr: 'err\n', timedOut: false, missing: false });
});

test('passes only the given environment', async () => {
  process.env.RUN_COMMAND_CANARY = 'leak';
  const code = 'console.log(JSON.stringify(process.env))';
  const result = await runCommand(process.execPath, script(code), {
    ...LIMITS,
    env: { A: '1' },
    path: '/nowhere',
  });
  delete process.env.RUN_COMMAND_CANARY;
  expect(JSON.parse(result.stdout)).toEqual({ A: '1', PATH: '/nowhere', LC_ALL: 'C' });
});

test('a missing tool and one that is not executable are results', async () => {
  const file = join(folder, 'plain');
  writeFileSync(file, 'text', { mode: 0o600 });
  expect(await runCommand('no-such-tool', [], { ...LIMITS, path: folder })).toMatchObject({
    missing: true,
    code: null,
  });
  expect(await runCommand(file, [], LIMITS)).toMatchObject({ missing: true, code: null });
});

test('limits output while the writer continues', async () => {
  const code = 'process.stdout.write("x".repeat(3_000_000), () => process.exit(7))';
  const result = await runCommand(process.execPath, script(code), LIMITS);
  expect(result.code).toBe(7);
  expect(result.stdout).toBe('x'.repeat(1000));
});

test('arguments are not interpreted by a shell', async () => {
  const result = await runCommand(process.execPath, ['-p', 'process.argv[1]', '$(id); `id`'], LIMITS);
  expect(result.stdout).toBe('$(id); `id`\n');
});

test('the time limit kills the whole process group', async () => {
  const file = join(folder, 'pid');
  const code = `const c = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    require('node:fs').writeFileSync(${JSON.stringify(file)}, String(c.pid)); setInterval(() => {}, 1000)`;
  const result = await runCommand(process.execPath, script(code), { timeoutMs: 1500, maxBytes: 1000 });
  expect(result).toMatchObject({ code: null, timedOut: true, missing: false });
  const grandchild = Number(readFileSync(file, 'utf8'));
  await vi.waitFor(() => expect(alive(grandchild)).toBe(false), 20_000);
});

test('an abort ends it, also before the start', async () => {
  const stop = new AbortController();
  const running = runCommand(process.execPath, script('setInterval(() => {}, 1000)'), {
    ...LIMITS,
    signal: stop.signal,
  });
  stop.abort();
  expect(await running).toMatchObject({ code: null, timedOut: false });
  expect(await runCommand(process.execPath, script('1'), { ...LIMITS, signal: stop.signal })).toMatchObject({
    code: null,
  });
});

test('a grandchild that keeps the pipe open does not delay the result', async () => {
  const code = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' }).unref(); process.exit(0)`;
  const result = await runCommand(process.execPath, script(code), { timeoutMs: 60_000, maxBytes: 1000 });
  expect(result).toMatchObject({ code: 0, timedOut: false });
});

test('does not wait for a process that cannot be killed, and reports when it has ended', async () => {
  const deaf = vi.spyOn(process, 'kill').mockReturnValue(true);
  const code = 'console.log(process.pid); setInterval(() => {}, 1000)';
  const began = Date.now();
  const result = await runCommand(process.execPath, script(code), { timeoutMs: 1000, maxBytes: 1000 });
  deaf.mockRestore();
  expect(Date.now() - began).toBeLessThan(4000);
  const pid = Number(result.stdout);
  expect(result).toMatchObject({ code: null, timedOut: true, missing: false });
  expect(alive(pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
  await result.leftBehind;
  expect(alive(pid)).toBe(false);
}, 10_000);
