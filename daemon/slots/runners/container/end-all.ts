import { allEngines, type ContainerEngines } from './engines.ts';
import { identityOf, labelsOf } from './labels.ts';
import { endContainer } from './reconcile.ts';
import { existingStateId } from './state-id.ts';

const LIMIT_MS = 60_000;

/**
 * Ends and removes every container that the gateway of this state folder left in any container engine; none will be
 * adopted. Never touches other containers, including those of other state folders. Returns how many were ended and
 * how many could not be; an engine that does not respond counts as empty. Never rejects.
 */
export async function endAllContainers(
  containerEngines: ContainerEngines,
  stateFolder: string,
): Promise<{ ended: number; failed: number }> {
  const state = existingStateId(stateFolder);
  if (state === null) return { ended: 0, failed: 0 };
  const signal = AbortSignal.timeout(LIMIT_MS);
  const engines = await allEngines(containerEngines, signal);
  const endings = engines.map(async (engine) => {
    const listed = await engine.list(labelsOf({ state }), signal).catch(() => []);
    // Check the result of the engine's filter again, because a wrong removal cannot be undone.
    const verified = listed.filter((container) => identityOf(container).state === state);
    return Promise.allSettled(verified.map(({ id }) => endContainer(engine, id)));
  });
  const outcomes = (await Promise.all(endings)).flat();
  const ended = outcomes.filter(({ status }) => status === 'fulfilled').length;
  return { ended, failed: outcomes.length - ended };
}
