// Plain JavaScript for Node 20: counts and failures out of Playwright's JSON report.
import { stripVTControlCharacters } from 'node:util';

const specsOf = (suite) => [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specsOf)];

const errorsOf = ({ tests }) =>
  tests.flatMap(({ results }) => results).flatMap(({ errors, error }) => errors ?? (error ? [error] : []));

const nameOf = (spec) => `browser: ${spec.file}:${spec.line} > ${spec.title}`;

/**
 * Returns `{passed, failed, skipped, failures, retried}` of a report. Each failure has a name and the whole text of its
 * errors. An error outside of tests counts as a failure. `retried` has the names of tests that passed at a second attempt.
 */
export function readPlaywrightReport(report) {
  const all = (report.suites ?? []).flatMap(specsOf);
  const specs = all.filter(({ ok }) => !ok);
  const outside = report.errors ?? [];
  const text = (errors) =>
    stripVTControlCharacters(errors.map(({ message }) => message ?? '').join('\n')) || 'no message';
  const { expected = 0, flaky = 0, unexpected = 0, skipped = 0 } = report.stats ?? {};
  return {
    passed: expected + flaky,
    failed: unexpected + outside.length,
    skipped,
    retried: all.filter(({ tests }) => tests.some(({ status }) => status === 'flaky')).map(nameOf),
    failures: [
      ...specs.map((spec) => ({
        name: nameOf(spec),
        text: text(errorsOf(spec)),
      })),
      ...outside.map((error) => ({ name: 'browser: outside of tests', text: text([error]) })),
    ],
  };
}
