import { type Command, type CommandContext, namedArguments } from '../command.ts';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { CliError, EXIT } from '../exit-codes.ts';

const SHELLS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};
const NAMES = Object.keys(SHELLS);

async function completion(context: CommandContext): Promise<number> {
  const { shell } = namedArguments(context, `completion ${NAMES.join('|')}`, 'shell');
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (script === undefined) throw new CliError(`completion is available for ${NAMES.join(', ')}`, EXIT.usage);
  const { COMMANDS } = await import('../table.ts');
  context.out(script(COMMANDS));
  return EXIT.ok;
}

export const completionCommands: readonly Command[] = [
  {
    words: 'completion',
    usage: NAMES.join('|'),
    summary: 'Print a shell completion script',
    completions: [NAMES],
    details: 'For bash: source <(svcctl completion bash). Names of slots are requested from the gateway.',
    run: completion,
  },
];
