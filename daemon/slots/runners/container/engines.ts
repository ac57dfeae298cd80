import type { ContainerEngine } from '../../../lib/container-engine/container-engine.ts';
import { ContainerEngineError } from '../../../lib/container-engine/engine-error.ts';
import { ContainerStartError } from './container-start-error.ts';

/** How container engines are reached. */
export interface ContainerEngines {
  /** Returns the candidate sockets, best first. */
  sockets(): readonly string[];
  connect(socketPath: string, signal: AbortSignal): Promise<ContainerEngine>;
}

const NONE =
  'Neither Podman nor Docker responds on this machine. Start one (systemctl enable --now podman.socket), or set its socket ([slots] container_socket).';
const NOT_PERMITTED =
  'A container engine is installed, but the gateway has no permission to open its socket (see Hardware for the fix).';

const notPermitted = (cause: unknown): boolean =>
  cause instanceof ContainerEngineError && (cause.code === 'EACCES' || cause.code === 'EPERM');

/** Returns the best engine that responds. Rejects with ContainerStartError, or with the signal's reason. */
export async function bestEngine(engines: ContainerEngines, signal: AbortSignal): Promise<ContainerEngine> {
  const failures: unknown[] = [];
  for (const socket of engines.sockets()) {
    try {
      return await engines.connect(socket, signal);
    } catch (cause) {
      signal.throwIfAborted();
      failures.push(cause);
    }
  }
  const explained = failures.find((cause) => cause instanceof ContainerEngineError && cause.code === null);
  if (explained !== undefined) throw new ContainerStartError((explained as Error).message);
  throw new ContainerStartError(failures.some(notPermitted) ? NOT_PERMITTED : NONE);
}

/** Returns all engines that respond, best first. */
export async function allEngines(engines: ContainerEngines, signal: AbortSignal): Promise<ContainerEngine[]> {
  const tries = await Promise.allSettled(engines.sockets().map((socket) => engines.connect(socket, signal)));
  return tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}
