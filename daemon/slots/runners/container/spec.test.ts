import { expect, test } from 'vitest';
import { containerLaunch } from '../../testing/launches.ts';
import { identityOf } from './labels.ts';
import { type ContainerSpecInput, configDigest, containerBody } from './spec.ts';

const engineInfo = {
  kind: 'podman',
  version: '5',
  api: '1.41',
  rootless: false,
  runtimes: [],
  cdi: true,
} as const;
const parts = (launch = containerLaunch(), over: Partial<ContainerSpecInput> = {}): ContainerSpecInput => ({
  launch,
  about: engineInfo,
  groups: [],
  keyFile: '/state/run/containers/boxed.key',
  modelStamp: '1 2 3',
  ...over,
});
const NO_TELEMETRY = ['DO_NOT_TRACK=1', 'VLLM_NO_USAGE_STATS=1', 'HF_HUB_DISABLE_TELEMETRY=1'];
const identity = { state: 's', slot: 'boxed', nonce: 'n', config: 'c' };

test('is published on the loopback address only, without capabilities and without a restart policy', () => {
  const body = containerBody(parts(), identity, 'secret');
  expect(body).toMatchObject({
    Image: 'localhost/stand-in:latest',
    Cmd: ['tiny'],
    ExposedPorts: { '8080/tcp': {} },
    HostConfig: {
      NetworkMode: 'bridge',
      PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }] },
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      RestartPolicy: { Name: 'no' },
    },
  });
  expect(JSON.stringify(body)).not.toContain('Privileged');
  expect(identityOf({ labels: body.Labels })).toEqual(identity);
});

test('placeholders are filled in, also in variables; the key is in its variable and nowhere else', () => {
  const launch = containerLaunch(
    { args: ['-m', '{model}', '--host', '{host}:{port}'], modelPath: '/models/a b.gguf', port: 9000 },
    { env: { MORE: '{port}' } },
  );
  const body = containerBody(parts(launch), identity, 'secret');
  expect(body.Cmd).toEqual(['-m', '/models/a b.gguf', '--host', '0.0.0.0:9000']);
  expect(body.Env).toEqual([...NO_TELEMETRY, 'PORT=9000', 'MORE={port}', 'KEY=secret']);
  expect(JSON.stringify(body).split('secret')).toHaveLength(2);
});

test('the slot file can replace a variable against telemetry', () => {
  const body = containerBody(parts(containerLaunch({}, { env: { DO_NOT_TRACK: '0' } })), identity, 'secret');
  expect(body.Env).toContain('DO_NOT_TRACK=0');
  expect(body.Env).not.toContain('DO_NOT_TRACK=1');
});

test('files are mounted read-only, the key of an engine that reads it from a file too', () => {
  const mounts = [{ source: '/m/x.gguf', target: '/models/x.gguf', readOnly: true }];
  const launch = containerLaunch({ mounts, args: ['{key_file}'], key: { by: 'file' } });
  const { HostConfig, Cmd, Env } = containerBody(parts(launch), identity, 'secret');
  expect(HostConfig.Mounts).toEqual([
    { Type: 'bind', Source: '/m/x.gguf', Target: '/models/x.gguf', ReadOnly: true },
    { Type: 'bind', Source: '/state/run/containers/boxed.key', Target: Cmd?.[0], ReadOnly: true },
  ]);
  expect(Env).toEqual([...NO_TELEMETRY, 'PORT=8080']);
});

test('memory is limited only where a limit is known, and swap cannot exceed it', () => {
  expect(containerBody(parts(), identity, '').HostConfig).not.toHaveProperty('Memory');
  const launch = containerLaunch({ memoryBytes: 1 << 28, shmBytes: 1 << 20 });
  expect(containerBody(parts(launch), identity, '').HostConfig).toMatchObject({
    Memory: 1 << 28,
    MemorySwap: 1 << 28,
    ShmSize: 1 << 20,
  });
});

test('an image without arguments keeps its own', () => {
  expect(containerBody(parts(containerLaunch({ args: [] })), identity, '')).not.toHaveProperty('Cmd');
});

test('the digest is the same for the same launch, and differs for each relevant change', () => {
  const base = configDigest(parts());
  expect(configDigest(parts())).toBe(base);
  const changed = [
    parts(containerLaunch({ image: 'localhost/other' })),
    parts(containerLaunch({ args: ['x'] })),
    parts(containerLaunch({ env: { A: 'b' } })),
    parts(containerLaunch({ port: 81 })),
    parts(containerLaunch({ key: { by: 'none' } })),
    parts(containerLaunch({}, { context: 1 })),
    parts(containerLaunch({}, { modelId: 'x' })),
    parts(containerLaunch(), { modelStamp: '4' }),
    parts(containerLaunch({ devices: [{ by: 'node', path: '/dev/dri' }] }), { groups: [44] }),
  ].map(configDigest);
  expect(new Set([base, ...changed]).size).toBe(changed.length + 1);
});

test('the number of threads does not change the digest, because it depends on what else runs', () => {
  const digest = (threads: string) =>
    configDigest(parts(containerLaunch({ args: ['-t', threads, '-c', '1'] })));
  expect(digest('8')).toBe(digest('2'));
});
