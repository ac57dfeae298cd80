/** A reader of the log that goes away (a closed terminal, a killed supervisor) costs the gateway its log, not its life. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEYS_FILE, launch, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';

let started: ReturnType<typeof launch>;
let port = 0;

beforeAll(async () => {
  started = launch({ files: KEYS_FILE });
  const address = () => /Address\s+http:\/\/\S+:(\d+)\/v1/.exec(started.output());
  await until(() => address() !== null, 'the gateway to start', 30_000);
  port = Number(address()?.[1]);
});
afterAll(() => {
  started.child.kill('SIGKILL');
});

/** CPU seconds of a process so far. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

describe('M03 standard output and error are closed by their reader', () => {
  it('goes on answering, does not spin, and still stops cleanly', async () => {
    started.child.stdout?.destroy();
    started.child.stderr?.destroy();
    for (let i = 0; i < 20; i++) {
      expect(
        (await ask({ port }, 'POST', '/api/auth/login', { body: { key: 'wrong' } })).status,
      ).toBeGreaterThan(400);
      expect((await ask({ port }, 'GET', '/api/health')).status).toBe(200);
    }
    const before = cpuSeconds(started.child.pid ?? 0);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(cpuSeconds(started.child.pid ?? 0) - before).toBeLessThan(1);
    const exited = new Promise((resolve) => started.child.once('exit', resolve));
    started.child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });
});
