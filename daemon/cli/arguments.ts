import { parseArgs } from 'node:util';
import { CliError, EXIT } from './exit-codes.ts';

const OPTIONS = {
  json: { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  model: { type: 'string' },
  path: { type: 'string' },
  url: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

const KEY_LIKE = /^--?(?:[a-z]+-)?(?:key|token|secret|password|auth|bearer)/i;

/** Reads the command line. Throws CliError; the message never repeats a value, which might be a key. */
export function parseCommandLine(argv: readonly string[]) {
  const options = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  if (options.some((word) => KEY_LIKE.test(word))) {
    throw new CliError(
      'a key is never taken as an argument, where others could see it; set SVC_ADMIN_KEY instead',
      EXIT.usage,
    );
  }
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ');
    throw new CliError(`${sentence}. See svcctl --help.`, EXIT.usage);
  }
}
