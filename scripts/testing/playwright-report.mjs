// Plain JavaScript for Node 20: counts and failures out of Playwright's JSON report.
import { stripVTControlCharacters } from 'node:util';

const specsOf = (suite) => [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specsOf)];

const errorsOf = ({ tests }) =>
  tests.flatMap(({ results }) => results).flatMap(({ errors, error }) => errors ?? (error ? [error] : []));

/**
 * Returns `{passed, failed, skipped, failures}` of a report. Each failure has a name and the whole text of its
 * errors. An error outside of tests counts as a failure.
 */
export function readPlaywrightReport(report) {
  const specs = (report.suites ?? []).flatMap(specsOf).filter(({ ok }) => !ok);
  const outside = report.errors ?? [];
  const text = (errors) =>
    stripVTControlCharacters(errors.map(({ message }) => message ?? '').join('\n')) || 'no message';
  const { expected = 0, unexpected = 0, skipped = 0 } = report.stats ?? {};
  return {
    passed: expected,
    failed: unexpected + outside.length,
    skipped,
    failures: [
      ...specs.map((spec) => ({
        name: `browser: ${spec.file}:${spec.line} > ${spec.title}`,
        text: text(errorsOf(spec)),
      })),
      ...outside.map((error) => ({ name: 'browser: outside of tests', text: text([error]) })),
    ],
  };
}
