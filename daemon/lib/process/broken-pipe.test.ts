import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../fs/root.ts';

const DAEMON = join(ROOT, 'dist', 'daemon', 'main.js');
const SVCCTL = join(ROOT, 'dist', 'daemon', 'cli', 'main.cjs');

/** Runs a program with redirected standard output. The first line of the result is its exit code. */
function runRedirected(program: string, args: string, into: string) {
  const home = mkdtempSync(join(tmpdir(), 'svc-output-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const script = `"$0" "$1" ${args} ${into}; echo "\${PIPESTATUS[0]}"`;
  const env = { PATH: process.env.PATH, HOME: home, SVC_HOME: home };
  const ran = spawnSync('bash', ['-c', script, process.execPath, program], { env, encoding: 'utf8' });
  return { code: ran.stdout.trim(), err: ran.stderr };
}

it.each([
  ['svcctl', SVCCTL, 'completion bash'],
  ['svcctl', SVCCTL, '--help'],
  ['svcctl', SVCCTL, 'config'],
  ['svc-gateway', DAEMON, 'config'],
  ['svc-gateway', DAEMON, '--help'],
])(
  '%s: lost output is a failure, a closed pipe is not (%s %s)',
  (name, program, args) => {
    expect(runRedirected(program, args, '> /dev/full')).toEqual({
      code: '1',
      err: `${name}: cannot write to standard output (ENOSPC)\n`,
    });
    expect(runRedirected(program, args, '| true')).toEqual({ code: '0', err: '' });
  },
  60_000,
);
