import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from './ratios.ts';
import type { Scenario, Stage } from './scenarios.ts';
import type { Target } from './targets.ts';

/** Scenario → target → figure → one value for each round. */
export type Results = Record<string, Record<string, Record<string, number[]>>>;

/** Pause between two runs, so that closing sockets of one run do not count for the next. */
const PAUSE_MS = 50;

/**
 * Runs one scenario. Each target runs once without counting, as a warm-up, and then once per round. The order is reversed in
 * every second round, so that drift of the machine affects all targets. A failing target is reported and has no value in that
 * round.
 */
export async function runScenario(
  stage: Stage,
  name: string,
  run: Scenario,
  targets: readonly Target[],
  rounds: number,
): Promise<Results[string]> {
  const results: Results[string] = {};
  const measure = (target: Target): Promise<Figures> =>
    run(stage, target).catch((error: Error) => {
      console.error(`${name}, ${target.name}: ${error.message}`);
      return {};
    });
  for (const target of targets) await measure(target);
  for (let round = 0; round < rounds; round++) {
    for (const target of round % 2 ? targets.toReversed() : targets) {
      note(results, target.name, await measure(target), round);
      await sleep(PAUSE_MS);
    }
  }
  return results;
}

/** Stores NaN for a round without a value, so that the rounds of all targets have the same indexes. */
function note(results: Results[string], target: string, figures: Figures, round: number): void {
  const ofTarget = results[target] ?? {};
  if (Object.keys(figures).length > 0) results[target] = ofTarget;
  for (const [figure, value] of Object.entries(figures)) {
    const before = ofTarget[figure] ?? [];
    ofTarget[figure] = [...before, ...Array<number>(round - before.length).fill(Number.NaN), value];
  }
}
