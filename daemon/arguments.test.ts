import { describe, expect, it } from 'vitest';
import { parseArguments, USAGE } from './arguments.ts';
import { SetupError } from './kit/setup-error.ts';

const NOTHING = { help: false, version: false, json: false, model: null, subcommand: null };

describe('parseArguments', () => {
  it.each([
    [[], {}],
    [['--model', 'a.gguf'], { model: 'a.gguf' }],
    [['config', '--json'], { subcommand: 'config', json: true }],
    [['--help'], { help: true }],
    [['--version'], { version: true }],
  ])('%j', (argv, expected) => expect(parseArguments(argv)).toEqual({ ...NOTHING, ...expected }));

  it.each([
    [['--nope'], "Unknown option '--nope'."],
    [['start'], 'There is no command "start".'],
    [['config', 'now'], 'There is no command "config now".'],
    [['--model'], "Option '--model <value>' argument missing."],
    [['--model', ' '], '--model is given without a path.'],
    [['--json=yes'], "Option '--json' does not take an argument."],
  ])('%j is refused in one sentence, with what to do', (argv, message) => {
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

  it('the usage names every sub-command and option', () => {
    for (const word of ['config', '--model', '--json', '--version', '--help']) expect(USAGE).toContain(word);
  });
});
