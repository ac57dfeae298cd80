import { GOALS } from './goals.ts';
import type { Verdict } from './verdicts.ts';

/** A floor that is passed by half is a failure on any machine; less may be the machine. */
export const SLACK = 1.5;

/** What is steady enough for a short run. */
export const SHORT_GOALS = GOALS.filter(({ short }) => short);
export const SHORT_SCENARIOS: readonly string[] = [...new Set(SHORT_GOALS.map(({ scenario }) => scenario))];

interface Line {
  readonly name: string;
  readonly why: string;
}

/** The counts of one short run, in the words of the other suites. */
export interface ShortReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Line[];
  /** What held at a second try only. */
  readonly again: readonly Line[];
}

const lineOf = ({ what, value, floor, failed }: Verdict): Line => ({
  name: what,
  why:
    failed > 0 ? `${failed} requests failed` : `${value.toFixed(2)}, beyond ${SLACK} x its floor of ${floor}`,
});

/** Whether any figure of `scenario` is beyond what is borne. */
export const isBeyond = (verdicts: readonly Verdict[], scenario: string): boolean =>
  verdicts.some((each) => each.scenario === scenario && each.verdict === 'MISSED');

/** A run on a machine that has too much else to do says nothing of any figure. */
export const nothingMeasured = (): ShortReport => ({
  passed: 0,
  failed: 0,
  skipped: SHORT_GOALS.length,
  failures: [],
  again: [],
});

/** What failed on a machine that had too much else to do meanwhile has not been measured. */
export const withoutFailures = (report: ShortReport): ShortReport => ({
  ...report,
  failed: 0,
  skipped: report.skipped + report.failed,
  failures: [],
});

/** Counts what held; `first` is what the first try said of those that were tried again. */
export function shortReport(verdicts: readonly Verdict[], first: readonly Verdict[]): ShortReport {
  const missed = verdicts.filter(({ verdict }) => verdict === 'MISSED');
  const unknown = verdicts.filter(({ verdict }) => verdict === 'unknown');
  const held = (what: string) => !missed.some((each) => each.what === what);
  return {
    passed: verdicts.length - missed.length - unknown.length,
    failed: missed.length,
    skipped: unknown.length,
    failures: missed.map(lineOf),
    again: first.filter(({ verdict, what }) => verdict === 'MISSED' && held(what)).map(lineOf),
  };
}
