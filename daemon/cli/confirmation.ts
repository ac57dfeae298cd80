import type { CommandContext } from './command.ts';
import { CliError, EXIT } from './exit-codes.ts';

/**
 * Asks before a change that cannot be undone; `--force` skips the question. Throws CliError when the answer is
 * no or there is no terminal.
 */
export async function requireConfirmation(
  { flags, confirm }: Pick<CommandContext, 'flags' | 'confirm'>,
  question: string,
): Promise<void> {
  if (flags.force) return;
  const answer = await confirm(question);
  if (answer === null) throw new CliError('no terminal to confirm; pass --force', EXIT.declined);
  if (!answer) throw new CliError('nothing was changed', EXIT.declined);
}
