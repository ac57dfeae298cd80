import type { Credential } from './config-paths.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { plain } from './output.ts';

/** What was known when a command failed. */
export interface FailureContext {
  json: boolean;
  /** The key that was sent. */
  credential: Credential | null;
}

/** A refusal for want of a key says which one was sent, if any: a stale variable hides the right key in the file. */
function hint({ exitCode, code }: CliError, credential: Credential | null): string {
  if (exitCode !== EXIT.refused || (code !== 'auth.required' && code !== 'auth.forbidden')) return '';
  return credential === null ? ' No key was found.' : ` The key came from ${credential.from}.`;
}

/** The last words of a command that failed, for standard error, and its exit code. */
export function report(error: unknown, facts: FailureContext): { text: string; exitCode: number } {
  const known = error instanceof CliError ? error : new CliError(String(error));
  const message = `${known.message}${hint(known, facts.credential)}`;
  const { exitCode, code } = known;
  const text = facts.json
    ? `${JSON.stringify({ error: { code, message, exit: exitCode } })}\n`
    : `svcctl: ${plain(message)}\n`;
  return { text, exitCode };
}
