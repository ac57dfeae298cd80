import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Outbound } from '../lib/net/outbound.ts';
import { listenOnLoopback } from '../lib/testing/listening.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { loadSettingsReadOnly } from '../settings/read-only-settings.ts';
import { createCompanion } from './companion.ts';

/** A chat UI whose status can be changed, and a clock that the test moves. */
async function setup() {
  const requests: { url: string; headers: string[] }[] = [];
  const at = { ms: 0, status: 200 };
  const server = createServer(({ url = '', rawHeaders }, res) => {
    requests.push({ url, headers: rawHeaders.map((each) => each.toLowerCase()) });
    res.writeHead(at.status).end('{"status":true}');
  });
  const port = await listenOnLoopback(server);
  const home = scratch();
  const settings = await loadSettingsReadOnly({ SVC_HOME: home });
  const outbound = new Outbound({ connectMs: () => 1000 });
  onTestFinished(async () => {
    await outbound.close();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const stop = new AbortController();
  const own = { ...settings, folders: { ...settings.folders, config: home } };
  const companion = createCompanion({ settings: own, outbound, signal: stop.signal, clock: () => at.ms });
  const write = (text = `SVC_OWUI_PORT=${port}\n`) => writeFileSync(join(home, 'companion.env'), text);
  return { companion, requests, at, stop, write, home, port };
}

it('without companion.env nothing is requested', async () => {
  const { companion, requests } = await setup();
  expect(await companion.refreshed()).toEqual({ plan: null, isResponding: false });
  expect(companion.last()).toEqual({ plan: null, isResponding: false });
  expect(requests).toEqual([]);
});

it('is requested once for many concurrent callers, without any credential, and again after five seconds', async () => {
  const { companion, requests, at, write, port } = await setup();
  write();
  const many = await Promise.all(Array.from({ length: 50 }, () => companion.refreshed()));
  expect(many.every(({ plan, isResponding }) => isResponding && plan?.port === port)).toBe(true);
  expect(requests).toHaveLength(1);
  expect(requests[0]?.url).toBe('/health');
  expect(requests[0]?.headers).not.toContain('authorization');
  at.ms = 5_000;
  await companion.refreshed();
  expect(requests).toHaveLength(1);
  at.ms = 5_001;
  at.status = 500;
  expect(await companion.refreshed()).toMatchObject({ isResponding: false });
  expect(requests).toHaveLength(2);
});

it('the last state is returned immediately, and a stale one is refreshed in the background', async () => {
  const { companion, write } = await setup();
  write();
  expect(companion.last().plan).toBeNull();
  await expect.poll(() => companion.last().isResponding).toBe(true);
});

it('an unresponsive companion counts as present; a gateway that stops sends no requests', async () => {
  const { companion, at, stop, write, requests } = await setup();
  write('SVC_OWUI_PORT=1\n');
  expect(await companion.refreshed()).toMatchObject({ isResponding: false, plan: { port: 1 } });
  write();
  at.ms = 10_000;
  stop.abort(new Error('the end'));
  expect(companion.last()).toMatchObject({ isResponding: false });
  expect(await companion.refreshed()).toMatchObject({ isResponding: false });
  expect(requests).toEqual([]);
});
