import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { cpuTimer } from '../../daemon/lib/testing/cpu-time.ts';
import { listenOnLoopback } from '../../daemon/lib/testing/listening.ts';
import { cpuBurner, SLOWDOWN, slowDown } from './slowdown.ts';

/** Uses CPU for some milliseconds. */
function work(ms: number): void {
  const cpuMs = cpuTimer();
  while (cpuMs() < ms);
}

test('a burner uses 60 % of what was used since its last call', () => {
  const burn = cpuBurner(SLOWDOWN);
  for (const ms of [50, 100]) {
    work(ms);
    const cpuMs = cpuTimer();
    burn();
    expect(cpuMs()).toBeGreaterThan(ms * 0.55);
  }
});

test('less is burned than was used', () => {
  const burn = cpuBurner(SLOWDOWN);
  work(500);
  const cpuMs = cpuTimer();
  burn();
  expect(cpuMs()).toBeLessThan(450);
});

test('a slowed process burns at each request', async () => {
  const server = createServer((_, res) => res.end('ok'));
  const port = await listenOnLoopback(server);
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  onTestFinished(slowDown(1));
  work(100);
  const cpuMs = cpuTimer();
  expect(await (await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })).text()).toBe(
    'ok',
  );
  expect(cpuMs()).toBeGreaterThan(90);
});
