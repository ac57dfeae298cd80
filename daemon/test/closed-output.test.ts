/** The gateway continues when the reader of its log is gone (a closed terminal, a killed supervisor). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KEYS_FILE, startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const gateway = new OneGateway(() => startGateway({ files: KEYS_FILE }));

/** CPU seconds of a process so far. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

describe('M03 standard output and error are closed by their reader', () => {
  it('continues to serve without busy looping, and stops cleanly', async () => {
    for (const pipe of gateway.pipes) pipe.destroy();
    for (let i = 0; i < 20; i++) {
      expect(
        (await send(gateway, 'POST', '/api/auth/login', { body: { key: 'wrong' } })).status,
      ).toBeGreaterThan(400);
      expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
    }
    const before = cpuSeconds(gateway.pid);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(cpuSeconds(gateway.pid) - before).toBeLessThan(1);
    expect(await gateway.stop()).toBe(0);
  });
});
