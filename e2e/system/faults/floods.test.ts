/**
 * M03: thousands of refused requests, and a standard output that is not read. Log lines stay few, and no answer waits for
 * the log.
 */
import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import { CLIENT_KEY, startLocked } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { scale } from '../../../daemon/test/harness/scale.ts';

/** Lines in the journal for each second of a flood (catalogue M03). */
const LINES_A_SECOND = 200;
const CALLERS = 16;

const gateway = new OneGateway(() => startLocked({ env: { SVC_LOG_LEVEL: 'info' } }), {
  stopSignal: 'SIGKILL',
});

const lines = () => gateway.output().split('\n').length;
const healthy = async () => (await send(gateway, 'GET', '/api/health')).status === 200;

/** Requests that are refused, one like the other, over kept connections; resolves with how many were answered otherwise. */
async function flood(count: number, path: string, key: string | undefined, refused: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  let [left, others] = [count, 0];
  const caller = async () => {
    while (left-- > 0) {
      const { status } = await send(gateway, 'GET', path, { key, agent });
      if (status !== refused) others += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  agent.destroy();
  return others;
}

describe('M03 bad requests by the thousand', () => {
  it.each([
    ['without a key', '/api/does-not-exist', undefined, 401],
    ['with the wrong tier', '/api/settings', CLIENT_KEY, 403],
    ['for a model that nobody has', '/v1/models/nobody', CLIENT_KEY, 404],
  ])('%s: each is refused, the journal stays short', async (_, path, key, status) => {
    const [before, began] = [lines(), performance.now()];
    expect(await flood(scale(50_000), path, key, status)).toBe(0);
    const seconds = (performance.now() - began) / 1000;
    expect(lines() - before).toBeLessThan(LINES_A_SECOND * Math.max(1, seconds));
  });
});

describe('M03 an output that nobody reads', () => {
  it('blocks no answer: lines are dropped', async () => {
    for (const pipe of gateway.pipes) pipe.pause();
    expect(await flood(scale(20_000), '/v1/models/%00', CLIENT_KEY, 404)).toBe(0);
    expect(await healthy()).toBe(true);
    for (const pipe of gateway.pipes) pipe.resume();
  });
});
