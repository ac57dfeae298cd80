import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { EngineInfo } from '../lib/container-engine/engine-info.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { type ContainerSources, readContainers } from './containers.ts';
import type { NodeState } from './device-nodes.ts';

const PODMAN = '/run/podman/podman.sock';
const DOCKER = '/var/run/docker.sock';

function programs(...names: string[]): string {
  const folder = scratch();
  for (const name of names) writeFileSync(join(folder, name), '', { mode: 0o755 });
  return `/nowhere:${folder}`;
}

type Answer = EngineInfo | { code: string };
const podman: EngineInfo = {
  kind: 'podman',
  version: '5.4.2',
  api: '1.41',
  rootless: true,
  runtimes: [],
  cdi: true,
};

function read(answers: Record<string, Answer>, states: Record<string, NodeState> = {}, path = '/nowhere') {
  const sources: ContainerSources = {
    sockets: () => [PODMAN, DOCKER],
    query: async (socket) => {
      const answer = answers[socket] ?? { code: 'ENOENT' };
      if ('code' in answer) throw Object.assign(new Error('x'), answer);
      return answer;
    },
  };
  const nodeAccess = async (socket: string) => states[socket] ?? 'ok';
  return readContainers({ sources, nodeAccess, path, signal: AbortSignal.timeout(5000) });
}

test('returns the data of a reachable engine', async () => {
  const kind = { ...podman, kind: 'docker' } as const;
  expect(await read({ [PODMAN]: podman, [DOCKER]: kind })).toEqual([
    { kind: 'podman', socket: PODMAN, access: 'ok', version: '5.4.2', rootless: true, hint: null },
    { kind: 'docker', socket: DOCKER, access: 'ok', version: '5.4.2', rootless: true, hint: null },
  ]);
});

test('omits an absent engine and lists one without permission', async () => {
  expect(await read({})).toEqual([]);
  expect(await read({}, { [PODMAN]: 'absent', [DOCKER]: 'denied' })).toEqual([
    expect.objectContaining({
      kind: 'docker',
      socket: DOCKER,
      access: 'no_permission',
      hint: expect.stringContaining('group docker'),
    }),
  ]);
  expect(await read({ [DOCKER]: { code: 'EACCES' } })).toMatchObject([{ access: 'no_permission' }]);
});

test('handles a socket without a listener and one with another protocol', async () => {
  expect(await read({ [PODMAN]: { code: 'ECONNREFUSED' } })).toMatchObject([{ access: 'not_running' }]);
  expect(await read({ [PODMAN]: { code: 'HPE_INVALID' } })).toMatchObject([{ access: 'no_answer' }]);
});

test('reports how to start an installed engine; the docker client alone does not count', async () => {
  expect(await read({}, {}, programs('podman', 'docker'))).toMatchObject([
    { kind: 'podman', socket: null, access: 'not_running', hint: expect.stringContaining('podman.socket') },
  ]);
  expect(await read({ [PODMAN]: podman }, {}, programs('podman'))).toHaveLength(1);
});
