import type { ContainerEngine } from '../../../lib/container-engine/container-engine.ts';
import { ContainerEngineError } from '../../../lib/container-engine/engine-error.ts';
import { CannotStart } from './cannot-start.ts';

/** How engines of containers are reached. */
export interface EnginePlaces {
  /** Where their sockets may be, best first. */
  sockets(): readonly string[];
  connect(socketPath: string, signal: AbortSignal): Promise<ContainerEngine>;
}

const NONE =
  'Neither Podman nor Docker answers on this machine: start one (systemctl enable --now podman.socket), or name its socket ([slots] container_socket).';
const NOT_PERMITTED =
  'An engine of containers is here, but this process may not open its socket (see Hardware for the fix).';

const notPermitted = (cause: unknown): boolean =>
  cause instanceof ContainerEngineError && (cause.code === 'EACCES' || cause.code === 'EPERM');

/** The best engine that answers. Rejects with CannotStart, or with the signal's reason. */
export async function bestEngine(places: EnginePlaces, signal: AbortSignal): Promise<ContainerEngine> {
  const failures: unknown[] = [];
  for (const socket of places.sockets()) {
    try {
      return await places.connect(socket, signal);
    } catch (cause) {
      signal.throwIfAborted();
      failures.push(cause);
    }
  }
  const told = failures.find((cause) => cause instanceof ContainerEngineError && cause.code === null);
  if (told !== undefined) throw new CannotStart((told as Error).message);
  throw new CannotStart(failures.some(notPermitted) ? NOT_PERMITTED : NONE);
}

/** Every engine that answers, the best first. */
export async function everyEngine(places: EnginePlaces, signal: AbortSignal): Promise<ContainerEngine[]> {
  const tries = await Promise.allSettled(places.sockets().map((socket) => places.connect(socket, signal)));
  return tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}
