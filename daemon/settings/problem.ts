/** A problem in a configuration file. `file` is its base name, `line` counts from 1. */
export interface Problem {
  file: string;
  line: number | null;
  message: string;
}

/** Maximum number of listed problems per file. */
const MAX_PROBLEMS = 50;

/** Returns the first problems of a list, and how many more there are. */
export function limitProblems(problems: readonly Problem[]): Problem[] {
  if (problems.length <= MAX_PROBLEMS) return [...problems];
  const rest = problems.length - MAX_PROBLEMS;
  const file = (problems[MAX_PROBLEMS] as Problem).file;
  return [...problems.slice(0, MAX_PROBLEMS), { file, line: null, message: `has ${rest} more problems` }];
}
