import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Spread, spreadOf } from './ratios.ts';
import type { Results } from './rounds.ts';
import type { Verdict } from './verdicts.ts';

/** Scenario → target → figure → its spread. */
type Summary = Record<string, Record<string, Record<string, Spread | null>>>;

const mapped = <A, B>(record: Record<string, A>, of: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, of(value)]));

const summaryOf = (results: Results): Summary =>
  mapped(results, (scenario) => mapped(scenario, (target) => mapped(target, spreadOf)));

/** Writes JSON to a file and creates its folder. */
export function writeJson(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 1)}\n`);
}

/** Writes the verdicts, the spread of each figure, and the values of every round as JSON. */
export function writeResults(file: string, results: Results, verdicts: readonly Verdict[]): void {
  const when = { at: new Date().toISOString(), node: process.version };
  writeJson(file, { ...when, verdicts, summary: summaryOf(results), results });
}
