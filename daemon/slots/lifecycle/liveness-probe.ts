import type { Engine, Launch } from '../engines/engine.ts';
import type { Question } from './health.ts';
import { WATCH_PACE } from './watch.ts';

/** How a ready engine is asked whether it lives. */
export interface SignOfLife {
  readonly question: Question;
  /** True when it is answered beside the engine's work; else an engine that serves may be too busy. */
  readonly whileServing: boolean;
}

/**
 * The sign of life of a launch; null for one that is not watched here: an attached server, which its runner watches, and a
 * process that several slots share, which may be too busy with another slot's work to answer.
 */
export function signOfLife(
  engine: Pick<Engine, 'answersWhileServing'>,
  { how }: Pick<Launch, 'how'>,
): SignOfLife | null {
  if (how.runner === 'attach' || (how.runner === 'process' && how.shared !== null)) return null;
  const path = how.runner === 'worker' ? '/health' : how.probe.path;
  return {
    question: { method: 'GET', path, limitMs: WATCH_PACE.limitMs },
    whileServing: engine.answersWhileServing ?? false,
  };
}
