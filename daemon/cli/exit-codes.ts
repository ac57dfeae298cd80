/** Exit codes of svcctl; documented in `svcctl help`. */
export const EXIT = {
  ok: 0,
  /** The gateway returned an error, the awaited action failed, or `doctor` found a failure. */
  failed: 1,
  /** The command line was wrong. */
  usage: 2,
  /** The gateway could not be reached, or another program responds there. */
  unreachable: 3,
  /** No key, a wrong key, or a key with too few rights. */
  refused: 4,
  /** A confirmation was declined, or there is no terminal to ask. */
  declined: 5,
  /** The login limiter tripped. */
  limited: 6,
} as const;

/** Ends a command with a line for standard error and an exit code. */
export class CliError extends Error {
  readonly exitCode: number;
  /** The error code of the gateway, when it was the one that refused. */
  readonly code: string | null;

  /** The next step, as a sentence. */
  readonly advice: string | null;

  constructor(
    message: string,
    exitCode: number = EXIT.failed,
    code: string | null = null,
    advice: string | null = null,
  ) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.code = code;
    this.advice = advice;
  }
}

/** What each exit code means, for help and manual. */
const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done',
  failed: 'the gateway returned an error, the awaited action failed, or doctor found a failure',
  usage: 'the command line is invalid',
  unreachable: 'the gateway could not be reached, something else answers there, or a stream was interrupted',
  refused: 'no key, a wrong key, or a key with too few rights',
  declined: 'a confirmation was declined, or there is no terminal to ask',
  limited: 'too many attempts; wait',
};

/** The exit codes with their meanings. */
export const exitMeanings = (): [code: number, meaning: string][] =>
  Object.entries(EXIT).map(([name, code]) => [code, EXIT_MEANINGS[name as keyof typeof EXIT]]);
