// Plain JavaScript for Node 20: what failed, out of the reports of the test runners.

const firstLine = (text) => {
  const plain = String(text ?? '').replace(/\u001b\[[0-9;]*m/g, '');
  return plain.split('\n').find((line) => line.trim() !== '') ?? 'no message';
};

const nameOf = (file, test) =>
  `${file.name.replace(/^.*\/(?=daemon\/|dashboard\/|scripts\/)/, '')} > ${test.fullName}`;

/** The failed tests of a vitest report as `{name, why}`; a file that could not be run counts as one. */
export function vitestFailures(report) {
  return (report.testResults ?? []).flatMap((file) => {
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0 && file.status === 'failed')
      return [{ name: file.name, why: firstLine(file.message) }];
    return failed.map((test) => ({ name: nameOf(file, test), why: firstLine(test.failureMessages?.[0]) }));
  });
}

/** The tests of a vitest report that passed at a second try, as `{name, why}`: their reports keep what failed first. */
export function vitestAgain(report) {
  return (report.testResults ?? []).flatMap((file) =>
    file.assertionResults
      .filter(({ status, failureMessages }) => status === 'passed' && (failureMessages?.length ?? 0) > 0)
      .map((test) => ({ name: nameOf(file, test), why: firstLine(test.failureMessages[0]) })),
  );
}

const specsOf = (suite) => [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specsOf)];

const errorOf = ({ tests }) => tests.flatMap(({ results }) => results).findLast(({ error }) => error)?.error;
const told = (spec) => ({
  name: `${spec.file}:${spec.line} > ${spec.title}`,
  why: firstLine(errorOf(spec)?.message),
});

/** The failed tests of a Playwright report as `{name, why}`, with what failed outside of tests. */
export function playwrightFailures(report) {
  const specs = (report.suites ?? []).flatMap(specsOf).filter(({ ok }) => !ok);
  return [
    ...specs.map(told),
    ...(report.errors ?? []).map(({ message }) => ({ name: 'outside of tests', why: firstLine(message) })),
  ];
}

/** The tests of a Playwright report that passed at a second try, as `{name, why}`. */
export function playwrightAgain(report) {
  const flaky = ({ tests }) => tests.some(({ status }) => status === 'flaky');
  return (report.suites ?? []).flatMap(specsOf).filter(flaky).map(told);
}
