/**
 * Tests the container runner against a fake Docker, on every host, and where Docker differs from Podman.
 * e2e/system/engines/container-runner.test.ts runs it with a real Podman.
 */
import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ContainerEngine } from '../../lib/container-engine/container-engine.ts';
import { createLog } from '../../lib/log.ts';
import { Outbound } from '../../lib/net/outbound.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { until } from '../../lib/testing/until.ts';
import { createEngineQuery } from '../lifecycle/health.ts';
import { containerLaunch } from '../testing/launches.ts';
import { StandInDocker } from '../testing/stand-in-docker.ts';
import { createContainerRunner } from './container.ts';
import type { Runner } from './runner.ts';

const log = createLog({ level: 'fatal', write: () => {} });
let folder = '';
let outbound: Outbound;
let docker: StandInDocker;
beforeEach(async () => {
  folder = scratch();
  outbound = new Outbound({ connectMs: () => 2000 });
  docker = new StandInDocker();
  await docker.open();
});
afterEach(async () => {
  await docker.remove();
  await outbound.close();
});

function runner(keep = true, sockets?: readonly string[], state = folder): Runner {
  return createContainerRunner({
    stateFolder: state,
    logFolder: join(state, 'logs'),
    runFolder: join(state, 'run'),
    query: createEngineQuery(outbound),
    engines: {
      sockets: () => sockets ?? ['/nowhere/podman.sock', docker.socketPath],
      connect: (socket, signal) => ContainerEngine.connect(outbound, socket, signal),
    },
    log,
    keepsContainers: () => keep,
  });
}

test('without an engine the reason includes the next step', async () => {
  const { ended } = runner(true, ['/nowhere/a', '/nowhere/b']).start(containerLaunch());
  expect((await ended).reason).toMatch(/^Neither Podman nor Docker responds.*container_socket/);
});

test('a start that is cancelled before an engine was found ends', async () => {
  const one = runner(true, ['/nowhere/a']).start(containerLaunch());
  expect((await one.stop(1000)).reason).toBe('The engine was stopped before it had started.');
});

test('a state folder that cannot be written starts nothing', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const one = runner(true, undefined, join(file, 'x')).start(containerLaunch());
  expect((await one.ended).reason).toContain('state folder');
  expect(docker.boxes).toEqual([]);
});

test('pulls, creates, starts, probes with the key, and removes', async () => {
  const one = runner().start(containerLaunch());
  await one.fetched;
  const loaded = await one.loaded;
  expect(loaded.headers.authorization).toMatch(/^Bearer .{43}$/);
  await until(() => one.lines().includes('engine is up'), 'its output');
  expect(await one.stop(1000)).toMatchObject({ signal: 'SIGTERM' });
  expect(docker.boxes).toEqual([]);
  expect(
    docker.calls.filter((call) => !/wait|logs|\/json|info/.test(call)).map((call) => call.split('/').at(-1)),
  ).toEqual(['create', 'create', 'start', 'stop', expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

test('an image on this machine is not pulled, unless the slot always pulls', async () => {
  docker.images.add('localhost/stand-in:latest');
  const once = runner().start(containerLaunch());
  await once.loaded;
  await once.stop(0);
  expect(docker.calls).not.toContain('POST /images/create');
  const always = runner().start(containerLaunch({ pull: 'always' }));
  await always.loaded;
  await always.stop(0);
  expect(docker.calls).toContain('POST /images/create');
});

test.each([
  // SIGKILL comes from outside: no line of the log explains it.
  [137, 'The engine was killed (SIGKILL), perhaps for lack of memory.'],
  [1, 'The engine ended with code 1: error: exit requested'],
])('an engine that exits with status %i ends with its reason and is removed', async (exitCode, reason) => {
  const one = runner().start(containerLaunch());
  await one.loaded;
  await docker.kill(exitCode);
  expect((await one.ended).reason).toBe(reason);
  expect(docker.boxes).toEqual([]);
});

test('output that the stream did not have is read when the container has ended', async () => {
  docker.losesOutput = true;
  const one = runner().start(containerLaunch());
  await one.loaded;
  await docker.kill(1);
  expect((await one.ended).reason).toBe('The engine ended with code 1: error: exit requested');
});

test('a record that cannot be removed does not change how a container ends', async () => {
  const one = runner().start(containerLaunch());
  await one.loaded;
  const records = join(folder, 'run', 'containers');
  renameSync(records, `${records}.away`);
  symlinkSync(records, records);
  expect(await one.stop(1000)).toMatchObject({ signal: 'SIGTERM' });
  expect(docker.boxes).toEqual([]);
  expect(readFileSync(join(folder, 'logs', 'boxed.log'), 'utf8')).toContain('could not be removed (ELOOP)');
});

test('a detached gateway leaves it running, and the next one adopts it without a new container', async () => {
  const first = runner();
  const before = first.start(containerLaunch());
  await before.loaded;
  first.detach?.();
  await before.stop(0);
  const next = runner();
  expect(await next.reconcile?.(new Set(['boxed']))).toEqual(new Set(['boxed']));
  const after = next.start(containerLaunch());
  expect(await after.loaded).toEqual(await before.loaded);
  expect(docker.calls.filter((call) => call === 'POST /containers/create')).toHaveLength(1);
  await after.stop(0);
});

test('what was changed in the meantime is not adopted: its container is replaced', async () => {
  const first = runner();
  const before = first.start(containerLaunch());
  await before.loaded;
  first.detach?.();
  await before.stop(0);
  const after = runner().start(containerLaunch({ args: ['other'] }));
  await after.loaded;
  expect(docker.calls.filter((call) => call === 'POST /containers/create')).toHaveLength(2);
  expect(docker.boxes).toHaveLength(1);
  await after.stop(0);
});

test('an image that is absent and must not be pulled ends the start with the reason', async () => {
  const one = runner().start(containerLaunch({ pull: 'never' }));
  expect((await one.ended).reason).toMatch(/localhost\/stand-in is not on this machine, and pull is "never"/);
  expect(docker.calls).not.toContain('POST /images/create');
});

test('an image whose name is an option is refused before any call to a container engine', async () => {
  const one = runner().start(containerLaunch({ image: '-v /:/host' }));
  expect((await one.ended).reason).toContain('image: must be');
  expect(docker.calls).toEqual([]);
});

test('the next gateway ends a container that no slot wants', async () => {
  const first = runner();
  const one = first.start(containerLaunch());
  await one.loaded;
  first.detach?.();
  await one.stop(0);
  expect(docker.boxes).toHaveLength(1);
  expect(await runner().reconcile?.(new Set())).toEqual(new Set());
  expect(docker.boxes).toEqual([]);
});

test('a server that does not answer as expected is not the engine, and its container is removed', async () => {
  const probe = { path: '/health', loading: [], contains: 'another program' };
  const one = runner().start(containerLaunch({ probe }));
  expect((await one.ended).reason).toBe('The engine answered its health check with status 200.');
  expect(docker.boxes).toEqual([]);
});

test('a permanent failure of the API: the stop still resolves', async () => {
  const one = runner().start(containerLaunch());
  await one.loaded;
  docker.closeApi();
  expect((await one.stop(0)).reason).toMatch(/container engine/);
});

test('a cancelled start removes what was created in the meantime', async () => {
  const one = runner().start(containerLaunch());
  await until(
    () => docker.calls.some((call) => call.endsWith('/start')) || docker.boxes.length > 0,
    'the making',
  );
  await one.stop(0);
  expect(docker.boxes).toEqual([]);
});

test('detaching changes nothing when containers do not outlive the gateway', async () => {
  const first = runner(false);
  const one = first.start(containerLaunch());
  await one.loaded;
  first.detach?.();
  await one.stop(0);
  expect(docker.boxes).toEqual([]);
});

test('a start that waits for the reconciliation can be cancelled immediately', async () => {
  const stuck = createContainerRunner({
    stateFolder: folder,
    logFolder: join(folder, 'logs'),
    runFolder: join(folder, 'run'),
    query: createEngineQuery(outbound),
    engines: { sockets: () => ['/x'], connect: () => new Promise(() => {}) },
    log,
    keepsContainers: () => true,
  });
  void stuck.reconcile?.(new Set());
  expect((await stuck.start(containerLaunch()).stop(0)).reason).toContain('stopped before');
});
