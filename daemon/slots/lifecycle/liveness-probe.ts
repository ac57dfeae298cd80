import type { Engine, Launch } from '../engines/engine.ts';
import type { EngineQuery } from './health.ts';
import { WATCH_PACE } from './watch.ts';

/** How a ready engine is asked whether it lives. */
export interface LivenessProbe {
  readonly query: EngineQuery;
  /** True when it is answered beside the engine's work; else an engine that serves may be too busy. */
  readonly answersWhileServing: boolean;
}

/**
 * The sign of life of a launch; null for one that is not watched here: an attached server, which its runner watches, and a
 * process that several slots share, which may be too busy with another slot's work to answer.
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
