import type { Reporter } from 'vitest/node';
import { SuiteReporter } from './suite-reporter.ts';

/** The reporters of a vitest run: a line for each suite under `npm test`, vitest's own output elsewhere. */
export const reporters = (): (Reporter | string)[] =>
  process.env.SVC_TEST_REPORT ? [new SuiteReporter()] : ['default'];
