import { describe, expect, it } from 'vitest';
import { parseCommandLine } from './arguments.ts';
import { rejectUnknownOptions, selectCommand, usageLine } from './choose.ts';
import type { Command } from './command.ts';
import { help } from './help.ts';
import { COMMANDS } from './table.ts';

const pick = (...words: string[]) => {
  const { command, args } = selectCommand(COMMANDS, words);
  return [command.words, args];
};

describe('choose', () => {
  it.each([
    [['hardware'], ['hardware', []]],
    [
      ['hardware', 'probe'],
      ['hardware probe', []],
    ],
    [['slots'], ['slots list', []]],
    [['requests'], ['requests list', []]],
    [['models'], ['models list', []]],
    [
      ['slots', 'show', 'agent'],
      ['slots show', ['agent']],
    ],
    [
      ['chat', 'slots', 'list'],
      ['chat', ['slots', 'list']],
    ],
  ])('%j is %j', (words, expected) => expect(pick(...words)).toEqual(expected));

  it('a command without arguments accepts no words', () => {
    expect(() => pick('auth', 'sessions', 'end')).toThrow(/^usage: svcctl auth sessions$/);
    expect(() => pick('models', 'scan', '/srv/x')).toThrow(/^usage: svcctl models scan$/);
    expect(() => pick('hardware', 'prob')).toThrow(/^usage: svcctl hardware$/);
  });

  it('lists the commands of a group', () => {
    expect(() => pick('slots', 'laod', 'agent')).toThrow(/"slots laod agent"\. slots has list, show, load/);
    expect(() => pick('auth')).toThrow(/there is no command "auth"\. auth has status/);
    expect(() => pick('nonsense')).toThrow(/there is no command "nonsense"\. See svcctl --help/);
  });
});

describe('refuseStrangers', () => {
  const check = (...argv: string[]) => {
    const { given, positionals } = parseCommandLine(argv);
    rejectUnknownOptions(selectCommand(COMMANDS, positionals).command, given);
  };
  it('an option that a command does not accept is not ignored', () => {
    check('slots', 'load', 'agent', '--no-wait', '--json', '--url', 'http://x');
    expect(() => check('slots', 'show', 'agent', '--force')).toThrow('svcctl slots show takes no --force.');
    expect(() => check('auth', 'rotate', 'admin', '--model', 'x')).toThrow(
      /takes no --model\. It takes --force/,
    );
  });
});

describe('the table', () => {
  it('no command is listed twice, and each has a short summary', () => {
    const names = COMMANDS.map(({ words }) => words);
    expect(new Set(names).size).toBe(names.length);
    for (const { summary } of COMMANDS) expect(summary).toMatch(/^[A-Z].{5,42}[^.]$/);
  });

  it('every help fits 80 columns', () => {
    const texts = [help(COMMANDS, []), ...COMMANDS.map(({ words }) => help(COMMANDS, words.split(' ')))];
    for (const line of texts.join('\n').split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it('help of a command has its usage line and its options; of a group, its commands', () => {
    const swap = COMMANDS.find(({ words }) => words === 'slots swap') as Command;
    const text = help(COMMANDS, ['slots', 'swap']);
    expect(text.startsWith(`${usageLine(swap)}\n`)).toBe(true);
    expect(text).toMatch(/^ {2}--once +Do not write/m);
    expect(help(COMMANDS, ['slots', 'swap', 'agent'])).toBe(text);
    expect(help(COMMANDS, ['auth'])).toMatch(/^ {2}auth status .*\n {2}auth rotate /);
    expect(() => help(COMMANDS, ['nonsense'])).toThrow(/no command/);
  });
});
