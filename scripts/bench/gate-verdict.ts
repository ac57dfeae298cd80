import { median } from './ratios.ts';

/** A measure fails at this multiple of its recorded ratio. */
export const MAX_FACTOR = 1.3;

/** Number of last runs whose median decides. Earlier runs are ignored, because code warms up slowly on a busy machine. */
export const DECIDING_RUNS = 3;

/** The runs of one measure. */
export interface MeasuredRatios {
  readonly name: string;
  /** The ratio of the gateway to the reference, for each run. */
  readonly ratios: readonly number[];
  /** Failed requests in all runs on both sides. */
  readonly failedRequests: number;
  readonly scenario: string;
}

interface Failure {
  readonly name: string;
  readonly text: string;
}

/** The counts of a suite in the format that scripts/test.mjs reads. */
export interface GateReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

export const limitOf = (recorded: number): number => recorded * MAX_FACTOR;

/** The ratio that is compared with the recorded one; NaN when a deciding run has none. */
export function decidingRatio({ ratios }: MeasuredRatios): number {
  const last = ratios.slice(-DECIDING_RUNS);
  return last.every(Number.isFinite) ? median(last) : Number.NaN;
}

export const isWithin = (measured: MeasuredRatios, recorded: number): boolean =>
  decidingRatio(measured) < limitOf(recorded);

const joined = (ratios: readonly number[]): string => ratios.map((ratio) => ratio.toFixed(2)).join(', ');

function failureOf(measured: MeasuredRatios, recorded: number): Failure | null {
  const { name, ratios, failedRequests, scenario } = measured;
  if (failedRequests > 0) {
    return {
      name: `gate: ${name}`,
      text: `${failedRequests} requests failed, so the measured CPU means nothing. Run \`npm run bench -- --only '${scenario}'\` to see the same load.`,
    };
  }
  if (isWithin(measured, recorded)) return null;
  return {
    name: `gate: ${name}`,
    text: [
      `CPU of ours is ${decidingRatio(measured).toFixed(2)} times that of the reference proxy (median of the last ${DECIDING_RUNS} runs of ${joined(ratios)}).`,
      `Recorded: ${recorded.toFixed(2)}, limit: ${limitOf(recorded).toFixed(2)} (${MAX_FACTOR} times).`,
      'The hot path has become slower, or Node or undici were updated. Next steps:',
      `- \`npm run bench -- --against REF\` compares a small chat with another commit.`,
      `- \`npm run bench -- --prof --only '${scenario}'\` lists the functions that use most CPU.`,
      '- If the cost is intended: `npm run bench -- --gate --record`, and paste the rows into docs/internals/performance.md.',
    ].join('\n'),
  };
}

/** Compares every measure with its recorded ratio. */
export function gateReport(
  measured: readonly MeasuredRatios[],
  recorded: ReadonlyMap<string, number>,
): GateReport {
  const failures = measured
    .map((each) => failureOf(each, recorded.get(each.name) ?? Number.NaN))
    .filter((failure) => failure !== null);
  return { passed: measured.length - failures.length, failed: failures.length, skipped: 0, failures };
}

/**
 * Compares the highest ratio of a gateway that was slowed down on purpose with its ratio before. A gate that does not notice the
 * difference would not notice a slower hot path either.
 */
export function slowdownReport(usual: number, slowed: number): GateReport {
  if (slowed >= limitOf(usual)) return { passed: 1, failed: 0, skipped: 0, failures: [] };
  const name = 'gate: a slowed gateway';
  const text = `The ratio of a gateway that was slowed down on purpose is ${slowed.toFixed(2)}, after ${usual.toFixed(2)}. It must be ${MAX_FACTOR} times as high. The gate does not measure the hot path.`;
  return { passed: 0, failed: 1, skipped: 0, failures: [{ name, text }] };
}

export const joinedReport = (one: GateReport, other: GateReport): GateReport => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
  failures: [...one.failures, ...other.failures],
});

/** The report of a gate that could not measure: one skipped test. */
export const skippedGate = (): GateReport => ({ passed: 0, failed: 0, skipped: 1, failures: [] });

/** The report of a gate that ended with an error before it completed all measures. */
export const brokenGate = (error: Error): GateReport => ({
  passed: 0,
  failed: 1,
  skipped: 0,
  failures: [{ name: 'gate', text: error.stack ?? error.message }],
});
