import { describe, expect, it } from 'vitest';
import { parseArguments, SUBCOMMANDS, USAGE } from './arguments.ts';
import { SetupError } from './setup-error.ts';

const NOTHING = {
  help: false,
  version: false,
  json: false,
  model: null,
  subcommand: null,
  operands: [],
  withKeys: false,
  force: false,
  selfTest: false,
  url: null,
};

describe('parseArguments', () => {
  it.each([
    [[], {}],
    [['--model', 'a.gguf'], { model: 'a.gguf' }],
    [['config', '--json'], { subcommand: 'config', json: true }],
    [
      ['doctor', '--self-test', '--url', 'http://x'],
      { subcommand: 'doctor', selfTest: true, url: 'http://x' },
    ],
    [['backup', '--with-keys', '--', '-f'], { subcommand: 'backup', withKeys: true, operands: ['-f'] }],
    [['restore', 'a'], { subcommand: 'restore', operands: ['a'] }],
    [['--help'], { help: true }],
    [['--version'], { version: true }],
  ])('%j', (argv, expected) => expect(parseArguments(argv)).toEqual({ ...NOTHING, ...expected }));

  it.each([
    [['--nope'], "Unknown option '--nope'."],
    [['start'], 'There is no command "start".'],
    [['config', 'now'], 'There is no command "config now".'],
    [['backup'], 'backup needs FILE.'],
    [['restore', ''], 'restore needs FILE.'],
    [['restore', 'a', '--force'], 'Unknown option --force for restore.'],
    [['--force'], '--force belongs to a command.'],
    [['--model'], "Option '--model <value>' argument missing."],
    [['--model', ' '], '--model needs a path.'],
    [['--json=yes'], "Option '--json' does not take an argument."],
  ])('refuses %j in one sentence, with advice', (argv, message) => {
    const refusal = (() => {
      try {
        return parseArguments(argv);
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(SetupError);
    expect(refusal).toMatchObject({ message, advice: expect.stringMatching(/--help|--model FILE/) });
  });

  it('lists every sub-command and option in the usage', () => {
    for (const word of [
      ...SUBCOMMANDS,
      '--with-keys',
      '--self-test',
      '--model',
      '--json',
      '--version',
      '--help',
    ])
      expect(USAGE).toContain(word);
  });
});
