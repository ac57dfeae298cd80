import type { Engine, Launch } from '../engines/engine.ts';
import type { EngineQuery } from './health.ts';
import { WATCH_PACE } from './watch.ts';

/** How to check that a ready engine still responds. */
export interface LivenessProbe {
  readonly query: EngineQuery;
  /**
   * True when the engine responds to the probe while it serves requests; otherwise a serving engine may be too
   * busy.
   */
  readonly answersWhileServing: boolean;
}

/**
 * Returns the liveness probe of a launch; null for one that is not watched here: its runner watches an attached
 * server, and a process that several slots share may be too busy with another slot's work to respond.
 */
export function livenessProbe(
  engine: Pick<Engine, 'answersWhileServing'>,
  { how }: Pick<Launch, 'how'>,
): LivenessProbe | null {
  if (how.runner === 'attach' || (how.runner === 'process' && how.shared !== null)) return null;
  const path = how.runner === 'worker' ? '/health' : how.probe.path;
  return {
    query: { method: 'GET', path, limitMs: WATCH_PACE.timeoutMs },
    answersWhileServing: engine.answersWhileServing ?? false,
  };
}
