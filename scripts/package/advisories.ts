/** Known advisories for the shipped packages, from `npm audit --json`. */
export type Advisories =
  | { readonly known: true; readonly severe: readonly string[]; readonly minor: number }
  | { readonly known: false; readonly why: string };

interface Report {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity?: string; readonly range?: string }>
  >;
  readonly message?: string;
  readonly error?: { readonly summary?: string };
}

/** Severities that no release may have. */
const SEVERE: ReadonlySet<string | undefined> = new Set(['high', 'critical']);

/** Parses such a report. A report without packages is a failed one. */
export function advisories(text: string): Advisories {
  let report: Report;
  try {
    report = JSON.parse(text) as Report;
  } catch {
    return { known: false, why: 'npm audit gave no report' };
  }
  const { vulnerabilities } = report;
  if (vulnerabilities === undefined)
    return { known: false, why: report.message ?? report.error?.summary ?? 'npm audit gave no report' };
  const all = Object.entries(vulnerabilities);
  const severe = all.filter(([, { severity }]) => SEVERE.has(severity));
  return {
    known: true,
    severe: severe.map(
      ([name, { severity, range }]) => `${range === undefined ? name : `${name} ${range}`}: ${severity}`,
    ),
    minor: all.length - severe.length,
  };
}
