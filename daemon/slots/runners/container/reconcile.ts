import type { ContainerEngine, ListedContainer } from '../../../lib/container-engine/container-engine.ts';
import type { Log } from '../../../lib/log.ts';
import { allEngines, type ContainerEngines } from './engines.ts';
import { identityOf, labelsOf } from './labels.ts';
import type { ContainerRecords } from './record.ts';

/** Time for a leftover container to end before it is killed. */
const GRACE_MS = 3_000;
const LIMIT_MS = 60_000;

export interface ReconcileDeps {
  readonly engines: ContainerEngines;
  readonly records: ContainerRecords;
  /** The id of this gateway's state folder. */
  readonly state: string;
  readonly log: Log;
}

/**
 * Returns whether a container of this state folder can be adopted: it runs, its slot is wanted, and its start is
 * recorded.
 */
export function isAdoptable(
  container: ListedContainer,
  nonce: string | undefined,
  wanted: ReadonlySet<string>,
): boolean {
  const identity = identityOf(container);
  return container.running && wanted.has(identity.slot) && nonce !== undefined && identity.nonce === nonce;
}

/** Ends and removes a container. */
export async function endContainer(engine: ContainerEngine, id: string, graceMs = GRACE_MS): Promise<void> {
  await engine.stop(id, graceMs).catch(() => {});
  await engine.remove(id);
}

/**
 * Handles what an earlier gateway of this state folder left in any container engine: containers of wanted slots
 * stay, all others are ended and removed. Never touches other containers. Returns the slots that run. Never
 * rejects.
 */
export async function reconcile(deps: ReconcileDeps, wanted: ReadonlySet<string>): Promise<Set<string>> {
  const { engines, records, state, log } = deps;
  const adopted = new Set<string>();
  const signal = AbortSignal.timeout(LIMIT_MS);
  const [best, ...others] = await allEngines(engines, signal);
  const reconcileEngine = async (engine: ContainerEngine, isBest: boolean) => {
    const left = await engine.list(labelsOf({ state }), signal);
    const endings = left.map(async (container) => {
      const { slot } = identityOf(container);
      if (isBest && isAdoptable(container, records.read(slot)?.nonce, wanted)) return void adopted.add(slot);
      log.warn({ slot, container: container.id.slice(0, 12) }, 'ended a container left by an earlier run');
      await endContainer(engine, container.id);
    });
    await Promise.all(endings);
  };
  const runs = [
    ...(best === undefined ? [] : [reconcileEngine(best, true)]),
    ...others.map((one) => reconcileEngine(one, false)),
  ];
  for (const one of await Promise.allSettled(runs)) {
    if (one.status === 'rejected') log.warn({ err: one.reason }, 'containers could not be listed');
  }
  return adopted;
}
