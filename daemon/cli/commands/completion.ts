import type { CliCommand } from '../cli-command.ts';
import type { CommandContext } from '../command.ts';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { EXIT } from '../exit-codes.ts';

const SCRIPTS: Readonly<Record<string, (program: CliCommand) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Returns the handler that prints the completion script of a shell for this program. */
export const completionOf =
  (program: CliCommand) =>
  async ({ out }: CommandContext, shell: string): Promise<number> => {
    out(SCRIPTS[shell]?.(program) ?? '');
    return EXIT.ok;
  };
