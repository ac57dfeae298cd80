import { parseArgs } from 'node:util';
import { CliError, EXIT } from './exit-codes.ts';
import { type Flags, OPTIONS, type OptionName, optionRow } from './options.ts';

const KEY_LIKE = /^--?(?:[a-z]+-)?(?:key|token|secret|password|auth|bearer)/i;

/** A known option that only looks like one for a key (`--with-keys`), without a value. */
const isKnownOption = (word: string): boolean =>
  word.startsWith('--') && Object.hasOwn(OPTIONS, word.slice(2));

export interface CommandLine {
  values: Flags;
  positionals: string[];
  /** The options that were given. */
  given: ReadonlySet<OptionName>;
}

/** Reads the command line. Throws CliError; the message never repeats a value, which might be a key. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  if (words.some((word) => KEY_LIKE.test(word) && !isKnownOption(word))) {
    throw new CliError(
      'a key is never accepted as an argument, where other users could see it; set SVC_ADMIN_KEY instead',
      EXIT.usage,
    );
  }
  const { values, positionals } = split(argv);
  const given = new Set(Object.keys(values) as OptionName[]);
  for (const name of given) checkWord(name, values[name]);
  const absent = Object.entries(OPTIONS).map(([name, row]) => [
    name,
    row.type === 'boolean' ? false : undefined,
  ]);
  return { values: { ...Object.fromEntries(absent), ...values } as Flags, positionals, given };
}

function split(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ');
    throw new CliError(`${sentence}. See svcctl --help.`, EXIT.usage);
  }
}

/** Refuses a value that is not among the words of an option. */
function checkWord(name: OptionName, value: unknown): void {
  const { words } = optionRow(name);
  if (words === undefined || words.includes(String(value))) return;
  throw new CliError(`--${name} takes ${words.join(', ')}`, EXIT.usage);
}

/**
 * Returns the integer value of an option, or undefined when it is absent. Throws CliError with the name of
 * the option.
 */
export function integerOption(
  flags: Flags,
  name: 'lines' | 'days' | 'limit',
  max: number,
): string | undefined {
  const value = flags[name];
  if (value === undefined) return undefined;
  const min = name === 'lines' ? 0 : 1;
  if (/^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max) return value;
  throw new CliError(`--${name} takes a whole number from ${min} to ${max}`, EXIT.usage);
}
