import { randomBytes } from 'node:crypto';
import type {
  ContainerEngine,
  ContainerState,
  ListedContainer,
} from '../../../lib/container-engine/container-engine.ts';
import { imageObjection } from '../../../lib/container-engine/image-name.ts';
import type { LaunchBy } from '../../engines/engine.ts';
import { newKey } from '../key.ts';
import { CannotStart } from './cannot-start.ts';
import { bestEngine, type EnginePlaces } from './engines.ts';
import { checkSources, modelStamp, nodeGroups } from './host-parts.ts';
import { identityOf, labelsOf } from './labels.ts';
import { endContainer } from './reconcile.ts';
import type { ContainerRecords } from './record.ts';
import { configDigest, containerBody, portName, type SpecParts } from './spec.ts';

/** A container of a slot that runs. */
export interface Opened {
  readonly engine: ContainerEngine;
  readonly id: string;
  readonly key: string;
  /** Port of the loopback address. */
  readonly port: number;
  /** As the host counts, as far as the engine tells. */
  readonly pid: number;
  /** It ran already, started by an earlier gateway. */
  readonly adopted: boolean;
}

export interface OpenParts {
  readonly places: EnginePlaces;
  readonly records: ContainerRecords;
  /** The mark of this gateway's state folder. */
  readonly state: string;
  /** Aborted when the start is no longer wanted. */
  readonly signal: AbortSignal;
  /** Share of the image that is here, 0 to 1; null before that is known. */
  onPull(share: number | null): void;
  /** The image is here. */
  onFetched(): void;
  note(line: string): void;
}

/** Images of tens of gigabytes over a slow line. */
const PULL_MS = 6 * 3_600_000;

async function fetchImage(
  engine: ContainerEngine,
  launch: LaunchBy<'container'>,
  parts: OpenParts,
): Promise<void> {
  const { image, pull } = launch.how;
  const { signal, onPull, note } = parts;
  if (pull !== 'always' && (await engine.hasImage(image, signal))) return;
  if (pull === 'never')
    throw new CannotStart(`The image ${image} is not on this machine, and pull is "never".`);
  note(`fetching the image ${image}`);
  onPull(null);
  try {
    await engine.pull(image, { signal, limitMs: PULL_MS, onProgress: onPull });
  } catch (cause) {
    signal.throwIfAborted();
    throw new CannotStart(`The image ${image} could not be fetched: ${(cause as Error).message}`, { cause });
  }
}

function publishedPort(state: ContainerState, launch: LaunchBy<'container'>): number {
  const port = state.ports[portName(launch.how.port)];
  if (port === undefined)
    throw new CannotStart('The container engine did not publish the port of the container.');
  return port;
}

/** A container that serves just this launch and whose start is on record, as it runs now; else null. */
async function adoptable(
  engine: ContainerEngine,
  launch: LaunchBy<'container'>,
  container: ListedContainer,
  config: string,
  parts: OpenParts,
): Promise<Opened | null> {
  const record = parts.records.read(launch.slot);
  const identity = identityOf(container);
  if (record === null || identity.nonce !== record.nonce || identity.config !== config) return null;
  const state = container.running ? await engine.inspect(container.id, parts.signal) : null;
  const port = state?.running ? state.ports[portName(launch.how.port)] : undefined;
  if (state === null || port === undefined) return null;
  return { engine, id: container.id, key: record.key, port, pid: state.pid, adopted: true };
}

/** The container of an earlier gateway that serves just this launch; every other one of the slot is ended. */
async function adopt(
  engine: ContainerEngine,
  launch: LaunchBy<'container'>,
  config: string,
  parts: OpenParts,
): Promise<Opened | null> {
  let found: Opened | null = null;
  const left = await engine.list(labelsOf({ state: parts.state, slot: launch.slot }), parts.signal);
  for (const container of left) {
    const fit: Opened | null =
      found === null ? await adoptable(engine, launch, container, config, parts) : null;
    found ??= fit;
    if (fit !== null) continue;
    parts.note(`ending the container ${container.id.slice(0, 12)} of an earlier start`);
    await endContainer(engine, container.id);
  }
  return found;
}

/** Makes and starts a container. A started call is never cut short, so that nothing is made that nobody knows of. */
async function make(
  engine: ContainerEngine,
  spec: SpecParts,
  config: string,
  parts: OpenParts,
): Promise<Opened> {
  const { records, state: mark, signal } = parts;
  const { launch } = spec;
  const { slot, how } = launch;
  const nonce = randomBytes(18).toString('base64url');
  const key = newKey();
  records.write(slot, { nonce, key }, how.key.by === 'file');
  const body = containerBody(spec, { state: mark, slot, nonce, config }, key);
  const id = await engine.create(`svc-${slot}-${randomBytes(4).toString('hex')}`, body);
  try {
    signal.throwIfAborted();
    await engine.start(id);
    const state = await engine.inspect(id);
    if (state === null) throw new CannotStart('The container was removed as soon as it had started.');
    // One that has ended already publishes nothing; its own words say why.
    const port = state.running ? publishedPort(state, launch) : 0;
    return { engine, id, key, port, pid: state.pid, adopted: false };
  } catch (cause) {
    await engine.remove(id).catch(() => {});
    throw cause;
  }
}

/**
 * The running container of a launch: one that an earlier gateway left, if it serves the same, else a new one of an
 * image that is fetched first where need be. Rejects with CannotStart, ContainerEngineError or the signal's reason.
 */
export async function openContainer(launch: LaunchBy<'container'>, parts: OpenParts): Promise<Opened> {
  const wrong = imageObjection(launch.how.image);
  if (wrong !== null) throw new CannotStart(`image: ${wrong}`);
  checkSources(launch);
  const engine = await bestEngine(parts.places, parts.signal);
  const spec: SpecParts = {
    launch,
    about: engine.about,
    groups: nodeGroups(launch.how.devices),
    keyFile: parts.records.keyFile(launch.slot),
    modelStamp: modelStamp(launch.modelPath),
  };
  const config = configDigest(spec);
  const adopted = await adopt(engine, launch, config, parts);
  if (adopted !== null) {
    parts.onFetched();
    return adopted;
  }
  await fetchImage(engine, launch, parts);
  parts.signal.throwIfAborted();
  parts.onFetched();
  return make(engine, spec, config, parts);
}
