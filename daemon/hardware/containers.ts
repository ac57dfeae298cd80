import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerRuntimeRecord } from '../contract/hardware.ts';
import type { EngineInfo } from '../lib/container-engine/engine-info.ts';
import type { NodeAccess } from './device-nodes.ts';

/** How container engines are found and queried. */
export interface ContainerSources {
  /** Possible socket paths, best first. */
  sockets(): readonly string[];
  /** Queries one engine. Rejects with a `code` (ENOENT, EACCES, ECONNREFUSED) when none is reachable. */
  query(socketPath: string, signal: AbortSignal): Promise<EngineInfo>;
}

type Kind = ContainerRuntimeRecord['kind'];
type Access = ContainerRuntimeRecord['access'];

/** The program that each engine requires. */
const PROGRAMS: Readonly<Record<Kind, string>> = { podman: 'podman', docker: 'dockerd' };

const HINTS: Readonly<Record<Kind, Readonly<Record<Exclude<Access, 'ok'>, string>>>> = {
  podman: {
    no_permission:
      'The gateway has no permission to open the socket. Use a socket of its own user (systemctl --user enable --now podman.socket), or add the user to the group of the socket, which is equivalent to root.',
    not_running:
      'Podman is installed, but its socket is not active. Run: sudo systemctl enable --now podman.socket.',
    no_answer: 'A program listens on the socket, but it does not respond like Podman.',
  },
  docker: {
    no_permission:
      'The gateway has no permission to open the socket. Add its user to the group docker (sudo usermod -aG docker USER), which is equivalent to root, then restart it.',
    not_running: 'Docker is installed, but not running. Run: sudo systemctl enable --now docker.',
    no_answer: 'A program listens on the socket, but it does not respond like Docker.',
  },
};

const kindOf = (socketPath: string): Kind => (socketPath.includes('podman') ? 'podman' : 'docker');

const without = (
  kind: Kind,
  socket: string | null,
  access: Exclude<Access, 'ok'>,
): ContainerRuntimeRecord => ({
  kind,
  socket,
  access,
  version: null,
  rootless: null,
  hint: HINTS[kind][access],
});

/** Returns the access state for a failed query. Null: the engine does not exist. */
export function accessFromErrorCode(code: unknown): Exclude<Access, 'ok'> | null {
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  if (code === 'EACCES' || code === 'EPERM') return 'no_permission';
  return code === 'ECONNREFUSED' ? 'not_running' : 'no_answer';
}

async function querySocket(
  socket: string,
  sources: ContainerSources,
  signal: AbortSignal,
): Promise<ContainerRuntimeRecord | null> {
  try {
    const { kind, version, rootless } = await sources.query(socket, signal);
    return { kind, socket, access: 'ok', version, rootless, hint: null };
  } catch (cause) {
    const state = accessFromErrorCode((cause as { code?: unknown } | null)?.code);
    return state === null ? null : without(kindOf(socket), socket, state);
  }
}

async function installed(program: string, path: string): Promise<boolean> {
  const tries = path.split(':').map((folder) => access(join(folder, program), constants.X_OK));
  return (await Promise.allSettled(tries)).some(({ status }) => status === 'fulfilled');
}

export interface ContainerProbe {
  readonly sources: ContainerSources;
  readonly nodeAccess: NodeAccess;
  /** The search path for programs. */
  readonly path: string;
  readonly signal: AbortSignal;
}

/**
 * Returns the container engines of this machine: reachable ones, those without permission, and those that are
 * installed but not running, each with the fix. An absent engine is not listed.
 */
export async function readContainers(probe: ContainerProbe): Promise<ContainerRuntimeRecord[]> {
  const { sources, nodeAccess, path, signal } = probe;
  const queries = sources.sockets().map(async (socket) => {
    const state = await nodeAccess(socket);
    if (state === 'absent') return null;
    return state === 'denied'
      ? without(kindOf(socket), socket, 'no_permission')
      : querySocket(socket, sources, signal);
  });
  const found = (await Promise.all(queries)).filter((one) => one !== null);
  for (const kind of Object.keys(PROGRAMS) as Kind[]) {
    if (found.some((one) => one.kind === kind) || !(await installed(PROGRAMS[kind], path))) continue;
    found.push(without(kind, null, 'not_running'));
  }
  return found;
}
