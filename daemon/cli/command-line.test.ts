import { describe, expect, it } from 'vitest';
import { parseCommandLine } from './command-line.ts';
import { CliError, EXIT } from './exit-codes.ts';

function parsed(...argv: string[]) {
  const line = parseCommandLine(argv);
  if ('text' in line) throw new Error(`it printed ${line.text}`);
  return line;
}

function printed(...argv: string[]) {
  const line = parseCommandLine(argv);
  if ('text' in line) return line;
  throw new Error('it selected a command');
}

function refusal(...argv: string[]): CliError {
  try {
    parseCommandLine(argv);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const usageError = (message: string | RegExp) => ({
  exitCode: EXIT.usage,
  message: typeof message === 'string' ? message : expect.stringMatching(message),
});

describe('a command', () => {
  it.each([
    [['slots'], 'slots', 'list', []],
    [['slots', '--wide'], 'slots', 'list', []],
    [['requests'], 'requests', 'list', []],
    [['models'], 'models', 'list', []],
    [['hardware'], 'machine', 'showHardware', []],
    [['hardware', 'probe'], 'machine', 'probeHardware', []],
    [['slots', 'show', 'agent'], 'slots', 'show', ['agent']],
    [['chat', 'slots', 'list'], 'chat', 'chat', ['slots', 'list']],
    [['slots', 'set', 'a', 'b=1', 'c=2'], 'slot-files', 'set', ['a', 'b=1', 'c=2']],
    [['embed', '-'], 'embed', 'embed', ['-']],
  ])('%j runs %s.%s', async (argv, file, name, args) => {
    const line = parsed(...argv);
    const module = (await import(`./commands/${file}.ts`)) as Record<string, unknown>;
    expect(await line.load()).toBe(module[name]);
    expect(line.args).toEqual(args);
  });

  it.each([
    [['--json', 'auth', 'rotate', 'admin', '--force'], { json: true, force: true }],
    [['auth', '--json', 'rotate', '--force', 'admin'], { json: true, force: true }],
    [['slots', 'show', 'a', '--url', 'http://x'], { url: 'http://x' }],
    [['logs', '-fn', '5'], { follow: true, lines: '5' }],
    [['slots', 'load', 'a', '--wait'], { wait: true }],
    [['slots', 'load', 'a', '--no-wait'], { wait: false }],
    [['slots', 'load', 'a'], {}],
    [['backup', '--with-keys', 'file'], { withKeys: true }],
    [['hardware', 'probe', '--wide'], { wide: true }],
  ])('%j has the options %j', (argv, flags) => expect(parsed(...argv).flags).toEqual(flags));

  it('takes everything after -- as text', () => {
    expect(parsed('chat', '--', '--key', 'x').args).toEqual(['--key', 'x']);
  });
});

describe('a key as an argument', () => {
  it.each([
    ['--key', 's3cret-value'],
    ['--key=s3cret-value'],
    ['--api-key', 's3cret-value'],
    ['--admin-key=s3cret-value'],
    ['--token=s3cret-value'],
    ['--password', 's3cret-value'],
    ['-key', 's3cret-value'],
    ['--with-keys=s3cret-value'],
  ])('X04 is refused and not repeated: %s', (...words) => {
    const error = refusal(...words, 'auth', 'status');
    expect(error).toMatchObject(usageError(/never accepted as an argument.*SVC_ADMIN_KEY/));
    expect(error.message).not.toContain('s3cret');
  });

  it.each([
    ['auth', 'rotate', 's3cret-value'],
    ['auth', 'status', 's3cret-value'],
    ['slots', 'show', 'agent', 's3cret-value'],
    ['status', '--nope=s3cret-value'],
    ['logs', '--level', 's3cret-value'],
    ['logs', '--lines', 's3cret-value'],
  ])('X04 is not repeated where it is a wrong value: %s %s', (...argv) => {
    expect(refusal(...argv).message).not.toContain('s3cret');
  });
});

describe('a wrong command line', () => {
  it.each<[string[], string | RegExp]>([
    [['nonsense'], 'there is no command "nonsense". See svcctl --help.'],
    [['slot'], 'there is no command "slot". Did you mean slots? See svcctl --help.'],
    [['nonsense', '--help'], 'there is no command "nonsense". See svcctl --help.'],
    [['help', 'nonsense'], 'there is no command "nonsense". See svcctl --help.'],
    [
      ['slots', 'laod', 'agent'],
      'there is no command "slots laod". Did you mean load? See svcctl slots --help.',
    ],
    [['slots', 'laod', '--help'], /there is no command "slots laod"/],
    [['slots', 'quux'], /"slots quux"\. slots has list, show, load, .* See svcctl slots --help\.$/],
    [['hardware', 'prob'], /Did you mean probe\?/],
    [['auth'], 'auth needs a command: status, rotate, set, require, sessions. See svcctl auth --help.'],
    [['auth', 'sessions', 'end'], 'too many arguments. Usage: svcctl auth sessions [options]'],
    [['models', 'scan', '/srv/x'], /too many arguments/],
    [['slots', 'load', 'a', 'b'], 'too many arguments. Usage: svcctl slots load [options] <slot>'],
    [['slots', 'load'], 'missing argument <slot>. Usage: svcctl slots load [options] <slot>'],
    [['slots', 'load', ''], 'missing argument <slot>. Usage: svcctl slots load [options] <slot>'],
    [['slots', 'set', 'agent'], /missing argument <key=value>/],
    [
      ['slots', 'show', 'agent', '--force'],
      'slots show has no option --force. See svcctl slots show --help.',
    ],
    [
      ['slots', 'list', '--wid'],
      'slots list has no option --wid. Did you mean --wide? See svcctl slots list --help.',
    ],
    [['--nope', 'status'], 'svcctl has no option --nope. See svcctl --help.'],
    [['status', '--nope'], 'status has no option --nope. See svcctl status --help.'],
    [['chat', '--model'], /option '--model <model>' argument missing/],
    [['requests', '--state', 'foo'], '--state takes running, done'],
    [['logs', '--level', 'foo'], '--level takes debug, info, warn, error'],
    [['logs', '--lines', '1001'], '--lines takes a whole number from 0 to 1000'],
    [['usage', '--days', '0'], '--days takes a whole number from 1 to 366'],
    [['models', 'catalog', 'foo'], /^\[purpose\] takes chat, coding/],
    [['completion', 'csh'], '<shell> takes bash, zsh, fish'],
  ])('%j: %s', (argv, message) => expect(refusal(...argv)).toMatchObject(usageError(message)));
});

describe('help and version', () => {
  it('prints the overview and exits with 2 without a command', () => {
    const { text, exitCode } = printed();
    expect(exitCode).toBe(EXIT.usage);
    expect(printed('--help')).toEqual({ text, exitCode: EXIT.ok });
    expect(printed('help')).toEqual({ text, exitCode: EXIT.ok });
    expect(printed('help', 'help')).toEqual({ text, exitCode: EXIT.ok });
    expect(printed('help', 'slots', 'help').text).toBe(printed('slots', '--help').text);
  });

  it('prints the help of a command in both forms', () => {
    const { text } = printed('slots', 'swap', '--help');
    expect(text).toMatch(/^Usage: svcctl slots swap \[options\] <slot> <model>\n/);
    expect(printed('help', 'slots', 'swap').text).toBe(text);
    expect(printed('help', 'slots', 'swap', 'agent').text).toBe(text);
    expect(printed('auth', '-h').text).toMatch(/^ {2}status .*\n {2}rotate <tier> /m);
  });

  it('prints the version', () => {
    expect(printed('--version').text).toMatch(/^svcctl \d+\.\d+\.\d+/);
  });
});
