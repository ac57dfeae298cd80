/** Something in a configuration file that is not as it should be; `file` is its base name, `line` counts from 1. */
export interface Problem {
  file: string;
  line: number | null;
  message: string;
}

/** At most this many problems of one file are listed. */
const MOST = 50;

/** The first problems of a list, and how many more there are. */
export function boundProblems(problems: readonly Problem[]): Problem[] {
  if (problems.length <= MOST) return [...problems];
  const rest = problems.length - MOST;
  const file = (problems[MOST] as Problem).file;
  return [...problems.slice(0, MOST), { file, line: null, message: `has ${rest} more problems` }];
}
