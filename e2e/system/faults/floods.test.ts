/**
 * M03: thousands of refused requests, and a standard output that is not read. There are few log lines, and no response waits
 * for the log.
 */
import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import { CLIENT_KEY, startLocked } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { scale } from '../../../daemon/test/harness/scale.ts';

/** Maximum journal lines for each second of a flood (M03). */
const LINES_A_SECOND = 200;
const CALLERS = 16;

const gateway = new OneGateway(() => startLocked({ env: { SVC_LOG_LEVEL: 'info' } }), {
  stopSignal: 'SIGKILL',
});

const lines = () => gateway.output().split('\n').length;
const healthy = async () => (await send(gateway, 'GET', '/api/health')).status === 200;

/** Sends identical requests that are refused, over keep-alive connections. Returns the number of other responses. */
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

describe('M03 thousands of bad requests', () => {
  it.each([
    ['without a key', '/api/does-not-exist', undefined, 401],
    ['with the wrong tier', '/api/settings', CLIENT_KEY, 403],
    ['for an unknown model', '/v1/models/unknown', CLIENT_KEY, 404],
  ])('%s: each is refused, with few journal lines', async (_, path, key, status) => {
    const [before, began] = [lines(), performance.now()];
    expect(await flood(scale(50_000), path, key, status)).toBe(0);
    const seconds = (performance.now() - began) / 1000;
    expect(lines() - before).toBeLessThan(LINES_A_SECOND * Math.max(1, seconds));
  });
});

describe('M03 a standard output without a reader', () => {
  it('blocks no response: lines are dropped', async () => {
    for (const pipe of gateway.pipes) pipe.pause();
    expect(await flood(scale(20_000), '/v1/models/%00', CLIENT_KEY, 404)).toBe(0);
    expect(await healthy()).toBe(true);
    for (const pipe of gateway.pipes) pipe.resume();
  });
});
