/**
 * The client of the container engine API on the socket of a real Podman and a small image registry.
 * daemon/lib/container-engine/container-engine.test.ts tests it with captured responses.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { ContainerEngine } from '../../../daemon/lib/container-engine/container-engine.ts';
import { tryPodman } from '../../../daemon/lib/container-engine/testing/podman.ts';
import { startRegistry } from '../../../daemon/lib/container-engine/testing/registry.ts';
import { Outbound } from '../../../daemon/lib/net/outbound.ts';
import { until } from '../../../daemon/lib/testing/until.ts';

const outbound = new Outbound({ connectMs: () => 2000 });
const registry = await startRegistry();
const { podman, obstacle } = await tryPodman(registry.host);
if (podman === null) console.warn(`SKIPPED with a real Podman: ${obstacle}`);

afterAll(async () => {
  await podman?.remove();
  registry.close();
  await outbound.close();
});

const never = new AbortController().signal;
const LABELS = { 'test.owner': 'me', 'test.slot': 'a b' };
const body = (env: readonly string[] = []) => ({
  Image: podman?.image,
  Env: env,
  Labels: LABELS,
  ExposedPorts: { '8080/tcp': {} },
  HostConfig: {
    NetworkMode: 'bridge',
    PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }] },
  },
});
const connect = () => ContainerEngine.connect(outbound, podman?.socketPath ?? '');

describe.skipIf(podman === null)('a real Podman', () => {
  test('reports its name and version', async () => {
    const { info: about } = await connect();
    expect(about).toMatchObject({ kind: 'podman', rootless: false, api: '1.41' });
    expect(about.version).toMatch(/^\d+\.\d+/);
  });

  test('an existing image, and one that does not exist', async () => {
    const engine = await connect();
    expect(await engine.hasImage('localhost/stand-in')).toBe(true);
    expect(await engine.hasImage('localhost:1/absent')).toBe(false);
    const pulled = engine.pull('localhost:1/absent', {
      signal: never,
      limitMs: 60_000,
      onProgress: () => {},
    });
    await expect(pulled).rejects.toThrow(/localhost:1/);
  });

  test('a pull reports progress, can be cancelled, and ends with the image present', async () => {
    const engine = await connect();
    const control = new AbortController();
    const shares: (number | null)[] = [];
    const pull = (signal: AbortSignal) =>
      engine.pull(registry.image, {
        signal,
        limitMs: 60_000,
        onProgress: (share) => void shares.push(share),
      });
    const cut = pull(control.signal);
    cut.catch(() => {});
    await until(() => shares.some((share) => share !== null && share > 0), 'the first bytes');
    control.abort(new Error('not wanted'));
    await expect(cut).rejects.toThrow('not wanted');
    expect(Math.max(...shares.filter((share) => share !== null))).toBeLessThan(0.9);
    expect(await engine.hasImage(registry.image)).toBe(false);
    registry.release();
    await pull(never);
    expect(await engine.hasImage(registry.image)).toBe(true);
  });

  test('a container from its creation to its removal', async () => {
    const engine = await connect();
    const id = await engine.create('svc-life', body());
    expect(await engine.inspect(id)).toMatchObject({ id, running: false });
    await engine.start(id);
    await engine.start(id);
    const state = await engine.inspect(id);
    expect(state).toMatchObject({ running: true, labels: LABELS });
    const port = state?.ports['8080/tcp'] as number;
    await until(
      async () => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.ok === true,
      'it',
    );
    expect(await engine.list(LABELS)).toEqual([
      { id, running: true, labels: expect.objectContaining(LABELS) },
    ]);
    expect(await engine.list({ ...LABELS, 'test.owner': 'you' })).toEqual([]);
    let output = '';
    const over = engine.follow(id, {
      signal: never,
      limitMs: 30_000,
      tail: 10,
      isLive: true,
      onOutput: (bytes) => {
        output += bytes;
      },
    });
    const ended = engine.wait(id, 30_000);
    await engine.stop(id, 5000);
    await Promise.all([over, ended]);
    expect(output).toContain('listening');
    expect(await engine.inspect(id)).toMatchObject({ running: false, exitCode: 0 });
    await engine.remove(id);
    expect(await engine.inspect(id)).toBeNull();
    await Promise.all([engine.remove(id), engine.stop(id, 1000), engine.wait(id, 5000), engine.kill(id)]);
  });

  test('a container that ignores SIGTERM is killed after the grace period; a wait has a time limit', async () => {
    const engine = await connect();
    const id = await engine.create('svc-deaf', body(['DEAF=1']));
    await engine.start(id);
    await expect(engine.wait(id, 300)).rejects.toMatchObject({ message: expect.stringContaining('in time') });
    await engine.stop(id, 1000);
    expect(await engine.inspect(id)).toMatchObject({ running: false, exitCode: 137 });
    await engine.remove(id);
  });

  test('an error contains the message of the engine', async () => {
    const engine = await connect();
    const made = engine.create('svc-none', { ...body(), Image: 'localhost/absent' });
    await expect(made).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('localhost/absent'),
    });
  });
});
