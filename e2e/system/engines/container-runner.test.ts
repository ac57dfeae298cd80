/**
 * The container runner on a real Podman with a small Node server as the image. `container-docker.test.ts` next to the runner
 * uses a stand-in for Docker.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ContainerEngine } from '../../../daemon/lib/container-engine/container-engine.ts';
import { tryPodman } from '../../../daemon/lib/container-engine/testing/podman.ts';
import { createLog } from '../../../daemon/lib/log.ts';
import { Outbound } from '../../../daemon/lib/net/outbound.ts';
import { scratch } from '../../../daemon/lib/testing/scratch.ts';
import { until } from '../../../daemon/lib/testing/until.ts';
import { createEngineQuery } from '../../../daemon/slots/lifecycle/health.ts';
import { endAllContainers } from '../../../daemon/slots/runners/container/end-all.ts';
import { createContainerRunner } from '../../../daemon/slots/runners/container.ts';
import type { LoadedEngine, Runner, RunningEngine } from '../../../daemon/slots/runners/runner.ts';
import { containerLaunch } from '../../../daemon/slots/testing/launches.ts';

const { podman, obstacle } = await tryPodman();
if (podman === null) console.warn(`SKIPPED with a real Podman: ${obstacle}`);
const outbound = new Outbound({ connectMs: () => 2000 });
const query = createEngineQuery(outbound);
const log = createLog({ level: 'fatal', write: () => {} });
const never = new AbortController().signal;

let folder = '';
let running: RunningEngine[] = [];
beforeEach(() => {
  folder = scratch();
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop(0)));
});
afterAll(async () => {
  await podman?.remove();
  await outbound.close();
});

interface Opened {
  readonly runner: Runner;
  start(...how: Parameters<typeof containerLaunch>): RunningEngine;
}

/** The runner of one gateway. A second one on the same folder is the gateway after a restart. */
function open(sockets: readonly string[] = [podman?.socketPath ?? ''], keep = true, state = folder): Opened {
  const runner = createContainerRunner({
    stateFolder: state,
    logFolder: join(state, 'logs'),
    runFolder: join(state, 'run'),
    query,
    engines: {
      sockets: () => sockets,
      connect: (socket, signal) => ContainerEngine.connect(outbound, socket, signal),
    },
    log,
    keepsContainers: () => keep,
  });
  return {
    runner,
    start: (...how) => {
      const one = runner.start(containerLaunch(...how));
      running.push(one);
      return one;
    },
  };
}

const get = (loaded: LoadedEngine, path: string) =>
  query(loaded, { method: 'GET', path, limitMs: 5000 }, never);
const containers = () => JSON.parse(podman?.run('ps', '-a', '--format', 'json') ?? '[]') as { Id: string }[];
const firstOf = (one: RunningEngine) => Promise.race([one.loaded, one.ended]);
async function loadedOf(one: RunningEngine): Promise<LoadedEngine> {
  const first = await firstOf(one);
  if ('reason' in first) throw new Error(first.reason);
  return first;
}

describe.skipIf(podman === null)('in a real Podman', () => {
  test('serves with its own key, without privileges, with a read-only model, and leaves nothing behind', async () => {
    const model = join(folder, 'weights');
    writeFileSync(model, 'the weights', { mode: 0o600 });
    const mounts = [{ source: model, target: '/models/weights', readOnly: true }];
    const env = { PORT: '{port}', MODEL: '{model}' };
    const one = open().start({ mounts, env, modelPath: '/models/weights' }, { modelPath: model });
    await one.fetched;
    const loaded = await loadedOf(one);
    expect(loaded.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await get({ ...loaded, headers: {} }, '/health')).status).toBe(401);
    const chat = await get(loaded, '/v1/chat/completions');
    expect(chat.body).toContain('holds the weights');
    const inside = JSON.parse((await get(loaded, '/env')).body) as Record<string, string>;
    expect(Object.keys(inside).filter((name) => name.startsWith('SVC'))).toEqual([]);
    const rights = JSON.parse((await get(loaded, '/rights')).body) as string;
    expect(rights).toMatch(/NoNewPrivs:\s+1/);
    expect(rights).toMatch(/CapEff:\s+0000000000000002/);
    expect(readFileSync(`/proc/${one.pid}/cmdline`, 'utf8')).toContain('server.cjs');
    await until(() => one.lines().includes('listening'), 'its output');
    expect(await one.stop(5000)).toMatchObject({ code: 0 });
    expect(containers()).toEqual([]);
    expect(one.pid).toBeNull();
    expect(readFileSync(join(folder, 'logs', 'boxed.log'), 'utf8')).toContain('started tiny (container');
  });

  test('after a removal of the package all containers of this state folder end, others continue', async () => {
    const theirs = scratch();
    const [one, other] = [open().start(), open(undefined, true, theirs).start()];
    try {
      await Promise.all([loadedOf(one), loadedOf(other)]);
      expect(containers()).toHaveLength(2);
      const connect = (socket: string, signal: AbortSignal) =>
        ContainerEngine.connect(outbound, socket, signal);
      const engineOptions = { sockets: () => ['/nowhere/a', podman?.socketPath ?? ''], connect };
      expect(await endAllContainers(engineOptions, folder)).toEqual({ ended: 1, failed: 0 });
      await one.ended;
      expect(containers()).toHaveLength(1);
      expect((await get(await loadedOf(other), '/health')).status).toBe(200);
      expect(await endAllContainers(engineOptions, folder)).toEqual({ ended: 0, failed: 0 });
    } finally {
      await other.stop(0);
    }
  });

  test('a failing engine reports its decisive log line, and its container is removed', async () => {
    const one = open().start({ env: { FAIL: 'no kernel image' } });
    const first = await firstOf(one);
    expect(first).toMatchObject({ code: 3, reason: expect.stringContaining('error: no kernel image') });
    expect(containers()).toEqual([]);
  });

  test('a container that another program kills ends with the reason', async () => {
    const one = open().start();
    await loadedOf(one);
    podman?.run('kill', ...containers().map(({ Id }) => Id));
    expect((await one.ended).reason).toContain('SIGKILL');
    expect(containers()).toEqual([]);
  });

  test('a container that ignores SIGTERM is killed after the grace period', async () => {
    const one = open().start({ env: { PORT: '{port}', DEAF: '1' } });
    await loadedOf(one);
    expect(await one.stop(1000)).toMatchObject({ signal: 'SIGKILL' });
  });

  test('a server with an unexpected response is not our engine', async () => {
    const one = open().start({ probe: { path: '/nothing', loading: [503] } });
    expect((await one.ended).reason).toContain('status 404');
    expect(containers()).toEqual([]);
  });

  test('an image that must not be pulled, and one that cannot be pulled', async () => {
    const absent = { image: 'localhost:1/absent' };
    expect((await open().start({ ...absent, pull: 'never' }).ended).reason).toContain('not on this machine');
    expect((await open().start(absent).ended).reason).toMatch(/localhost:1\/absent could not be fetched: .+/);
    expect((await open().start({ image: '-v /:/host' }).ended).reason).toContain('image: must be');
  });

  test('the next gateway adopts a container of the same launch, with the same key and process', async () => {
    const before = open();
    const one = before.start();
    await loadedOf(one);
    const { pid } = one;
    before.runner.detach?.();
    expect((await one.stop(1000)).reason).toContain('left running');
    running = [];
    const after = open();
    expect(await after.runner.reconcile?.(new Set(['boxed']))).toEqual(new Set(['boxed']));
    const again = after.start();
    const loaded = await loadedOf(again);
    expect(again.pid).toBe(pid);
    expect((await get(loaded, '/health')).status).toBe(200);
    await until(() => again.lines().includes('listening'), 'its output');
    await again.stop(1000);
    expect(containers()).toEqual([]);
  });

  test('a changed launch gets a new container, and a slot never has two', async () => {
    const before = open();
    const one = before.start();
    await loadedOf(one);
    const { pid } = one;
    before.runner.detach?.();
    await one.stop(1000);
    running = [];
    const again = open().start({ env: { PORT: '{port}', MORE: 'x' } });
    await loadedOf(again);
    expect(again.pid).not.toBe(pid);
    expect(containers()).toHaveLength(1);
  });

  test('reconciling ends containers without a slot or record, and never those of others', async () => {
    const other = scratch();
    const strange = podman?.run('run', '-d', '--label', 'svc-gateway.state=x', podman.image).trim();
    const neighbour = open(undefined, true, other).start();
    await loadedOf(neighbour);
    const missingEngine = open().start({}, { slot: 'gone' });
    const robbed = open().start({}, { slot: 'robbed' });
    await Promise.all([loadedOf(missingEngine), loadedOf(robbed)]);
    rmSync(join(folder, 'run', 'containers', 'robbed.json'));
    const after = open();
    expect(await after.runner.reconcile?.(new Set(['robbed']))).toEqual(new Set());
    await Promise.all([missingEngine.ended, robbed.ended]);
    expect(containers().map(({ Id }) => Id)).toEqual(expect.arrayContaining([strange]));
    expect(containers()).toHaveLength(2);
    expect((await get(await neighbour.loaded, '/health')).status).toBe(200);
    await neighbour.stop(0);
    podman?.run('rm', '-f', '-t', '0', strange as string);
  });

  test('a temporary failure of the API ends nothing', async () => {
    const one = open().start();
    const loaded = await loadedOf(one);
    await podman?.closeSocket();
    expect((await get(loaded, '/health')).status).toBe(200);
    await podman?.openSocket();
    podman?.run('kill', ...containers().map(({ Id }) => Id));
    expect((await one.ended).reason).toContain('SIGKILL');
    await until(() => containers().length === 0, 'the container to be removed');
  });

  test('a permanent failure of the API: the stop still resolves, and the next start cleans up', async () => {
    const one = open().start();
    await loadedOf(one);
    await podman?.closeSocket();
    expect((await one.stop(0)).reason).toContain('does not answer');
    running = [];
    await podman?.openSocket();
    const after = open();
    expect(await after.runner.reconcile?.(new Set())).toEqual(new Set());
    expect(containers()).toEqual([]);
  });

  test('a key file is readable in the container only', async () => {
    const args = ['tiny', '{key_file}'];
    const one = open().start({ args, key: { by: 'file' }, env: { PORT: '{port}', MODEL: '{key_file}' } });
    const loaded = await loadedOf(one);
    const key = loaded.headers.authorization?.replace('Bearer ', '') ?? '';
    expect((await get(loaded, '/v1/chat/completions')).body).toContain(`holds ${key}`);
    expect(statSync(join(folder, 'run', 'containers')).mode & 0o777).toBe(0o700);
  });
});
