import { parseArgs } from 'node:util';
import { SetupError } from './kit/setup-error.ts';

/** Sub-commands of the daemon binary that work while no daemon runs. */
export const SUBCOMMANDS = ['config'] as const;
export type Subcommand = (typeof SUBCOMMANDS)[number];

export interface DaemonArguments {
  help: boolean;
  version: boolean;
  json: boolean;
  /** Path of a .gguf file for slot agent. */
  model: string | null;
  subcommand: Subcommand | null;
}

export const USAGE = `svc-gateway: the inference gateway for a home lab

  svc-gateway [--model FILE.gguf]   start the gateway
  svc-gateway config [--json]       print every setting with its value and source
  svc-gateway --version             print the version
  svc-gateway --help                print this text

Settings come from api.env and config.toml.
`;

const isSubcommand = (word: string): word is Subcommand => (SUBCOMMANDS as readonly string[]).includes(word);

/** Reads the command line of the daemon; throws SetupError for anything it does not know. */
export function parseArguments(argv: readonly string[]): DaemonArguments {
  const { values, positionals } = split(argv);
  const word = positionals[0] ?? null;
  if (positionals.length > 1 || (word !== null && !isSubcommand(word))) {
    throw new SetupError(`There is no command "${positionals.join(' ')}".`, 'See svc-gateway --help.');
  }
  if (values.model?.trim() === '') {
    throw new SetupError('--model is given without a path.', 'Name a .gguf file: --model FILE.gguf');
  }
  return {
    help: values.help,
    version: values.version,
    json: values.json,
    model: values.model ?? null,
    subcommand: word,
  };
}

function split(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        model: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        version: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ');
    throw new SetupError(`${sentence}.`, 'See svc-gateway --help.');
  }
}
