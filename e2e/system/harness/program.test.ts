import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { until } from '../../../daemon/lib/testing/until.ts';
import { runInstaller } from './packages.ts';
import { lastLine, runProgram } from './program.ts';
import { Unavailable } from './unavailable.ts';

const LIMIT = { limitMs: 10_000 };
const sh = (script: string) => ['sh', ['-c', script]] as const;

it('returns standard output only', async () => {
  expect(await runProgram(...sh('echo out; echo err >&2'), LIMIT)).toBe('out\n');
});

it('an error has the status, the last line and the whole output', async () => {
  const error = runProgram(...sh('echo first; echo reason >&2; exit 3'), LIMIT);
  await expect(error).rejects.toMatchObject({
    message: 'sh: ended with 3: reason',
    output: 'first\nreason\n',
  });
});

it('a program that is absent', async () => {
  await expect(runProgram('/nonexistent/python3', [], LIMIT)).rejects.toThrow('ENOENT');
});

it('at the limit the program and its children are killed', async () => {
  const script = 'sleep 60 & echo $!; wait';
  const error = await runProgram(...sh(script), { limitMs: 300 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: 'sh: no end within 0.3 s' });
  const child = Number((error as { output: string }).output);
  expect(child).toBeGreaterThan(1);
  await until(() => !existsSync(`/proc/${child}`), 'the child to end');
});

it('an installer that fails is a reason to skip, except for a wrong hash', async () => {
  await expect(runInstaller(...sh('echo No route to host; exit 1'), LIMIT)).rejects.toBeInstanceOf(
    Unavailable,
  );
  const pip = 'echo "THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."; exit 1';
  const uv = 'echo "error: Hash mismatch for uv==0.0.0"; exit 1';
  for (const script of [pip, uv]) {
    const error = await runInstaller(...sh(script), LIMIT).catch((thrown: unknown) => thrown);
    expect(error).not.toBeInstanceOf(Unavailable);
    expect(error).toMatchObject({ message: expect.stringContaining('another hash') });
  }
});

it('the last line skips empty lines and is cut', () => {
  expect(lastLine('first\nreason \n\n')).toBe('reason');
  expect(lastLine('')).toBe('no output');
  expect(lastLine('x'.repeat(10_000)).length).toBeLessThan(1_000);
});
