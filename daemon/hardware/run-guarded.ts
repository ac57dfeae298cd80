export interface ProbeProblem {
  probe: string;
  reason: string;
}

const NO_ANSWER = 'no answer within';
export const noAnswer = (limitMs: number): string => `${NO_ANSWER} ${limitMs / 1000} s`;
/** Returns whether a probe, or a tool that it ran, timed out. */
export const isTimeout = ({ reason }: ProbeProblem): boolean => reason.startsWith(NO_ANSWER);

/**
 * Runs one probe with a time limit. An exception or a timeout becomes a line in `problems` and the fallback
 * value, so that no probe can fail or delay the others.
 */
export async function runGuarded<T>(
  probe: string,
  limitMs: number,
  work: () => Promise<T>,
  fallback: T,
  problems: ProbeProblem[],
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(noAnswer(limitMs))), limitMs);
  });
  try {
    return await Promise.race([work(), limit]);
  } catch (error) {
    problems.push({ probe, reason: error instanceof Error ? error.message : String(error) });
    return fallback;
  } finally {
    clearTimeout(timer);
  }
}
