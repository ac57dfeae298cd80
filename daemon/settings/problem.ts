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

/** Passes each problem to the log once, until it has been corrected. Files are read again at every change. */
export class NewProblems {
  #logged = new Set<string>();

  log(problems: readonly Problem[], write: (problem: Problem) => void): void {
    const texts = problems.map(textOf);
    for (const [index, problem] of problems.entries())
      if (!this.#logged.has(texts[index] as string)) write(problem);
    this.#logged = new Set(texts);
  }
}

/** Returns a problem as one line: `file:line: message`. */
export const textOf = ({ file, line, message }: Problem): string =>
  `${file}${line === null ? '' : `:${line}`}: ${message}`;
