export type Verdict = 'ok' | 'warn' | 'fail';

/** One result of a check. */
export interface Finding {
  /** What it is about, for programs too: `port`, `disk`, `device`. */
  readonly id: string;
  readonly status: Verdict;
  /** One sentence. Never a key. */
  readonly message: string;
  /** The next step, in one line; null for ok. */
  readonly fix: string | null;
}

export const ok = (id: string, message: string): Finding => ({ id, status: 'ok', message, fix: null });
export const warn = (id: string, message: string, fix: string): Finding => ({
  id,
  status: 'warn',
  message,
  fix,
});
export const fail = (id: string, message: string, fix: string): Finding => ({
  id,
  status: 'fail',
  message,
  fix,
});

export const counted = (findings: readonly Finding[], status: Verdict): number =>
  findings.filter((one) => one.status === status).length;
