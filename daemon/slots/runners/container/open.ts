import { randomBytes } from 'node:crypto';
import type {
  ContainerEngine,
  ContainerState,
  ListedContainer,
} from '../../../lib/container-engine/container-engine.ts';
import { imageNameError } from '../../../lib/container-engine/image-name.ts';
import type { LaunchFor } from '../../engines/engine.ts';
import { newKey } from '../key.ts';
import { ContainerStartError } from './container-start-error.ts';
import { bestEngine, type ContainerEngines } from './engines.ts';
import { checkSources, modelStamp, nodeGroups } from './host-resources.ts';
import { identityOf, labelsOf } from './labels.ts';
import { endContainer } from './reconcile.ts';
import type { ContainerRecords } from './record.ts';
import { type ContainerSpecInput, configDigest, containerBody, portName } from './spec.ts';

/** A running container of a slot. */
export interface OpenContainer {
  readonly engine: ContainerEngine;
  readonly id: string;
  readonly key: string;
  /** Port of the loopback address. */
  readonly port: number;
  /** The pid on the host, as the engine reports it. */
  readonly pid: number;
  /** Whether an earlier gateway had started it. */
  readonly adopted: boolean;
}

export interface OpenContainerDeps {
  readonly engines: ContainerEngines;
  readonly records: ContainerRecords;
  /** The id of this gateway's state folder. */
  readonly state: string;
  /** Aborted when the start is no longer wanted. */
  readonly signal: AbortSignal;
  /** Reports the share of the image that is pulled, 0 to 1; null before it is known. */
  onPull(share: number | null): void;
  /** Called when the image is on this machine. */
  onFetched(): void;
  note(line: string): void;
}

/** Enough for an image of tens of gigabytes over a slow connection. */
const PULL_MS = 6 * 3_600_000;

async function fetchImage(
  engine: ContainerEngine,
  launch: LaunchFor<'container'>,
  deps: OpenContainerDeps,
): Promise<void> {
  const { image, pull } = launch.how;
  const { signal, onPull, note } = deps;
  if (pull !== 'always' && (await engine.hasImage(image, signal))) return;
  if (pull === 'never')
    throw new ContainerStartError(`The image ${image} is not on this machine, and pull is "never".`);
  note(`fetching the image ${image}`);
  onPull(null);
  try {
    await engine.pull(image, { signal, limitMs: PULL_MS, onProgress: onPull });
  } catch (cause) {
    signal.throwIfAborted();
    throw new ContainerStartError(`The image ${image} could not be fetched: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function publishedPort(state: ContainerState, launch: LaunchFor<'container'>): number {
  const port = state.ports[portName(launch.how.port)];
  if (port === undefined)
    throw new ContainerStartError('The container engine did not publish the port of the container.');
  return port;
}

/**
 * Returns the container as it runs now if it serves exactly this launch and its start is recorded; otherwise null.
 */
async function adoptableContainer(
  engine: ContainerEngine,
  launch: LaunchFor<'container'>,
  container: ListedContainer,
  config: string,
  deps: OpenContainerDeps,
): Promise<OpenContainer | null> {
  const record = deps.records.read(launch.slot);
  const identity = identityOf(container);
  if (record === null || identity.nonce !== record.nonce || identity.config !== config) return null;
  const state = container.running ? await engine.inspect(container.id, deps.signal) : null;
  const port = state?.running ? state.ports[portName(launch.how.port)] : undefined;
  if (state === null || port === undefined) return null;
  return { engine, id: container.id, key: record.key, port, pid: state.pid, adopted: true };
}

/** Returns the container of an earlier gateway that serves exactly this launch. Ends all others of the slot. */
async function adopt(
  engine: ContainerEngine,
  launch: LaunchFor<'container'>,
  config: string,
  deps: OpenContainerDeps,
): Promise<OpenContainer | null> {
  let found: OpenContainer | null = null;
  const left = await engine.list(labelsOf({ state: deps.state, slot: launch.slot }), deps.signal);
  for (const container of left) {
    const fit: OpenContainer | null =
      found === null ? await adoptableContainer(engine, launch, container, config, deps) : null;
    found ??= fit;
    if (fit !== null) continue;
    deps.note(`ending the container ${container.id.slice(0, 12)} of an earlier start`);
    await endContainer(engine, container.id);
  }
  return found;
}

/**
 * Creates and starts a container. Running API calls are never aborted, so that no container is created without
 * being known.
 */
async function make(
  engine: ContainerEngine,
  spec: ContainerSpecInput,
  config: string,
  deps: OpenContainerDeps,
): Promise<OpenContainer> {
  const { records, state: stateId, signal } = deps;
  const { launch } = spec;
  const { slot, how } = launch;
  const nonce = randomBytes(18).toString('base64url');
  const key = newKey();
  records.write(slot, { nonce, key }, how.key.by === 'file');
  const body = containerBody(spec, { state: stateId, slot, nonce, config }, key);
  const id = await engine.create(`svc-${slot}-${randomBytes(4).toString('hex')}`, body);
  try {
    signal.throwIfAborted();
    await engine.start(id);
    const state = await engine.inspect(id);
    if (state === null) throw new ContainerStartError('The container was removed as soon as it had started.');
    // A container that has ended already publishes no port; its own output shows the reason.
    const port = state.running ? publishedPort(state, launch) : 0;
    return { engine, id, key, port, pid: state.pid, adopted: false };
  } catch (cause) {
    await engine.remove(id).catch(() => {});
    throw cause;
  }
}

/**
 * Returns the running container of a launch: one that an earlier gateway left, if it serves the same, otherwise a
 * new one, whose image is pulled first if needed. Rejects with ContainerStartError, ContainerEngineError or the
 * signal's reason.
 */
export async function openContainer(
  launch: LaunchFor<'container'>,
  deps: OpenContainerDeps,
): Promise<OpenContainer> {
  const wrong = imageNameError(launch.how.image);
  if (wrong !== null) throw new ContainerStartError(`image: ${wrong}`);
  checkSources(launch);
  const engine = await bestEngine(deps.engines, deps.signal);
  const spec: ContainerSpecInput = {
    launch,
    about: engine.info,
    groups: nodeGroups(launch.how.devices),
    keyFile: deps.records.keyFile(launch.slot),
    modelStamp: modelStamp(launch.modelPath),
  };
  const config = configDigest(spec);
  const adopted = await adopt(engine, launch, config, deps);
  if (adopted !== null) {
    deps.onFetched();
    return adopted;
  }
  await fetchImage(engine, launch, deps);
  deps.signal.throwIfAborted();
  deps.onFetched();
  return make(engine, spec, config, deps);
}
