import { parseArgs } from 'node:util';
import { SetupError } from './setup-error.ts';

const FLAGS = {
  json: { type: 'boolean', default: false },
  'self-test': { type: 'boolean', default: false },
  'with-keys': { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  url: { type: 'string' },
} as const;
type Flag = keyof typeof FLAGS;

interface SubcommandRow {
  /** Placeholders of the positional arguments in messages. All of them are required. */
  readonly operands: readonly string[];
  readonly flags: readonly Flag[];
  readonly summary: string;
}

/** The sub-commands of the daemon binary. They work while no daemon is running. */
const ROWS = {
  config: { operands: [], flags: ['json'], summary: 'print every setting with its value and source' },
  doctor: {
    operands: [],
    flags: ['self-test', 'json', 'url'],
    summary: 'check the installation and suggest fixes',
  },
  backup: {
    operands: ['FILE'],
    flags: ['with-keys', 'force', 'json'],
    summary: 'configuration and database into one file',
  },
  restore: { operands: ['FILE'], flags: ['json'], summary: 'put them back; the gateway must be stopped' },
  'companion-env': {
    operands: ['FILE'],
    flags: [],
    summary: 'the variables of the companion chat UI, for its unit',
  },
  'end-containers': { operands: [], flags: [], summary: 'end every container of this gateway' },
} as const satisfies Record<string, SubcommandRow>;

export type Subcommand = keyof typeof ROWS;
export const SUBCOMMANDS = Object.keys(ROWS) as Subcommand[];

export interface DaemonArguments {
  help: boolean;
  version: boolean;
  json: boolean;
  /** Path of a .gguf file for slot agent. */
  model: string | null;
  subcommand: Subcommand | null;
  /** The positional arguments of the sub-command. */
  operands: readonly string[];
  withKeys: boolean;
  force: boolean;
  selfTest: boolean;
  /** Address of the running gateway if it differs from the settings. */
  url: string | null;
}

const USAGE_WIDTH = 34;
const flagText = (flag: Flag): string => `[--${flag}${FLAGS[flag].type === 'string' ? ' ADDRESS' : ''}]`;

function usageLines([name, { operands, flags, summary }]: [string, SubcommandRow]): string {
  const words = `  svc-gateway ${[name, ...operands, ...flags.map(flagText)].join(' ')}`;
  return words.length < USAGE_WIDTH
    ? `${words.padEnd(USAGE_WIDTH)}${summary}`
    : `${words}\n${''.padEnd(USAGE_WIDTH)}${summary}`;
}

export const USAGE = `svc-gateway: the inference gateway for a home lab

  svc-gateway [--model FILE.gguf] start the gateway
${Object.entries(ROWS).map(usageLines).join('\n')}
  svc-gateway --version           print the version
  svc-gateway --help              print this text

Settings come from api.env and config.toml.
`;

const isSubcommand = (command: string): command is Subcommand => Object.hasOwn(ROWS, command);
const HELP_HINT = 'See svc-gateway --help.';

function refuseUnknownArguments(
  subcommand: Subcommand | null,
  operands: readonly string[],
  flags: Flag[],
): void {
  if (subcommand === null) {
    const [flag] = flags.filter((each) => each !== 'json');
    if (flag !== undefined) throw new SetupError(`--${flag} belongs to a command.`, HELP_HINT);
    return;
  }
  const row: SubcommandRow = ROWS[subcommand];
  if (operands.length > row.operands.length) {
    throw new SetupError(`There is no command "${[subcommand, ...operands].join(' ')}".`, HELP_HINT);
  }
  const missing = row.operands[operands.length] ?? (operands.includes('') ? row.operands[0] : undefined);
  if (missing !== undefined) throw new SetupError(`${subcommand} needs ${missing}.`, HELP_HINT);
  const unknown = flags.find((flag) => !row.flags.includes(flag));
  if (unknown !== undefined)
    throw new SetupError(`Unknown option --${unknown} for ${subcommand}.`, HELP_HINT);
}

/** Parses the command line of the daemon. Throws SetupError for an unknown command or option. */
export function parseArguments(argv: readonly string[]): DaemonArguments {
  const { values, positionals } = split(argv);
  const [command = null, ...operands] = positionals;
  if (command !== null && !isSubcommand(command)) {
    throw new SetupError(`There is no command "${positionals.join(' ')}".`, HELP_HINT);
  }
  if (values.model?.trim() === '') {
    throw new SetupError('--model needs a path.', 'Name a .gguf file: --model FILE.gguf');
  }
  const present = (Object.keys(FLAGS) as Flag[]).filter(
    (flag) => values[flag] !== undefined && values[flag] !== false,
  );
  if (!values.help && !values.version) refuseUnknownArguments(command, operands, present);
  return {
    help: values.help,
    version: values.version,
    json: values.json,
    model: values.model ?? null,
    subcommand: command,
    operands,
    withKeys: values['with-keys'],
    force: values.force,
    selfTest: values['self-test'],
    url: values.url ?? null,
  };
}

function split(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        model: { type: 'string' },
        help: { type: 'boolean', default: false },
        version: { type: 'boolean', default: false },
        ...FLAGS,
      },
    });
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ');
    throw new SetupError(`${sentence}.`, HELP_HINT);
  }
}
