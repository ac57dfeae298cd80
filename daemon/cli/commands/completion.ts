import type { CliCommand } from '../cli-command.ts';
import type { CommandContext } from '../command.ts';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { EXIT } from '../exit-codes.ts';
import { createProgram } from '../program.ts';

const SCRIPTS: Readonly<Record<string, (program: CliCommand) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

export async function completion({ out }: CommandContext, shell: string): Promise<number> {
  out(SCRIPTS[shell]?.(createProgram()) ?? '');
  return EXIT.ok;
}
