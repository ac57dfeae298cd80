import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, vi } from 'vitest';
import { startTicksOf } from '../../lib/process/process-identity.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { parentDeathPrefix } from './program.ts';

describe('the prefix against orphans', () => {
  it('is empty where setpriv is missing or does not support it', () => {
    const folder = scratch();
    expect(parentDeathPrefix(folder)).toEqual([]);
    writeFileSync(join(folder, 'setpriv'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect(parentDeathPrefix(folder)).toEqual([]);
  });

  const before = parentDeathPrefix(process.env.PATH ?? '');
  it.skipIf(before.length === 0)('the kernel kills the program when its parent is killed', async () => {
    const text = `import { spawn } from 'node:child_process';
      const [file, ...words] = JSON.parse(process.argv[1]);
      const child = spawn(file, [...words, 'sleep', '60'], { stdio: 'ignore', detached: true });
      console.log(child.pid);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', text, JSON.stringify(before)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
    const pid = Number(line);
    // setpriv executes the program once the signal is set.
    await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/comm`, 'utf8')).toBe('sleep\n'), 20_000);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await vi.waitFor(() => expect(startTicksOf(pid)).toBeNull(), { timeout: 20_000 });
  });
});
