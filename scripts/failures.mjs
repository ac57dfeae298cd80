// Plain JavaScript for Node 20: what failed, out of the reports of the test runners.

const firstLine = (text) => {
  const plain = String(text ?? '').replace(/\u001b\[[0-9;]*m/g, '');
  return plain.split('\n').find((line) => line.trim() !== '') ?? 'no message';
};

/** The failed tests of a vitest report as `{name, why}`; a file that could not be run counts as one. */
export function vitestFailures(report) {
  return (report.testResults ?? []).flatMap((file) => {
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0 && file.status === 'failed')
      return [{ name: file.name, why: firstLine(file.message) }];
    return failed.map((test) => ({
      name: `${file.name.replace(/^.*\/(?=daemon\/|dashboard\/|scripts\/)/, '')} > ${test.fullName}`,
      why: firstLine(test.failureMessages?.[0]),
    }));
  });
}

const specsOf = (suite) => [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specsOf)];

/** The failed tests of a Playwright report as `{name, why}`, with what failed outside of tests. */
export function playwrightFailures(report) {
  const specs = (report.suites ?? []).flatMap(specsOf).filter(({ ok }) => !ok);
  const errorOf = ({ tests }) =>
    tests.flatMap(({ results }) => results).findLast(({ error }) => error)?.error;
  return [
    ...specs.map((spec) => ({
      name: `${spec.file}:${spec.line} > ${spec.title}`,
      why: firstLine(errorOf(spec)?.message),
    })),
    ...(report.errors ?? []).map(({ message }) => ({ name: 'outside of tests', why: firstLine(message) })),
  ];
}
