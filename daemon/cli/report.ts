import type { Credential } from './config-paths.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { plain } from './output.ts';

/** The context of a failed command. */
export interface FailureContext {
  json: boolean;
  /** The key that was sent. */
  credential: Credential | null;
}

/**
 * For a missing or wrong key, names the key that was sent: a stale variable hides the right key in the file.
 */
function hint({ exitCode, code }: CliError, credential: Credential | null): string {
  if (exitCode !== EXIT.refused || (code !== 'auth.required' && code !== 'auth.forbidden')) return '';
  return credential === null ? ' No key was found.' : ` The key came from ${credential.from}.`;
}

/** Returns the error text of a failed command, for standard error, and its exit code. */
export function report(error: unknown, facts: FailureContext): { text: string; exitCode: number } {
  const known = error instanceof CliError ? error : new CliError(String(error));
  const { exitCode, code, advice } = known;
  const message = `${known.message}${hint(known, facts.credential)}`;
  const named = code === null ? message : `${known.message} (${code})${hint(known, facts.credential)}`;
  const text = facts.json
    ? `${JSON.stringify({ error: { code, message, exit: exitCode, ...(advice && { advice }) } })}\n`
    : `svcctl: ${plain([named, ...(advice === null ? [] : [advice])].join(' '))}\n`;
  return { text, exitCode };
}
