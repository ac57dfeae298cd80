import { describe, expect, it } from 'vitest';
import type { CliCommand } from './cli-command.ts';
import { parseCommandLine } from './command-line.ts';
import { EXIT } from './exit-codes.ts';
import { createProgram } from './program.ts';

const program = createProgram();
const below = (command: CliCommand): CliCommand[] =>
  command.children.flatMap((child) => [child, ...below(child)]);
const all = [program, ...below(program)];

describe('the tree of commands', () => {
  it('has a short summary and an example for each command', () => {
    for (const command of below(program))
      expect(command.summary(), command.path).toMatch(/^[A-Z].{5,42}[^.]$/);
    for (const { path, exampleLines } of program.leaves) {
      expect(exampleLines.length, path).toBeGreaterThan(0);
      for (const line of exampleLines)
        expect(line, path).toContain(`svcctl ${path.replace(/ (list|show)$/, '')}`);
    }
  });

  it('lists each command under a heading', () => {
    for (const command of program.children) expect(command.helpGroup(), command.name()).toMatch(/^[A-Z].*:$/);
  });

  it.each(program.leaves.map((leaf) => [leaf.path, leaf] as const))('%s has its handler', async (_, leaf) => {
    expect(await leaf.load?.()).toBeTypeOf('function');
  });

  it.each(program.leaves.flatMap(({ exampleLines }) => exampleLines))(
    'the example %s is a valid command line',
    (line) => {
      const text = /svcctl (.*?)\)?( \| .*| < .*)?$/.exec(line)?.[1] ?? '';
      const argv = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
      expect('load' in parseCommandLine(argv)).toBe(true);
    },
  );
});

describe('the help', () => {
  it.each(all.map((command) => [command.path || 'svcctl', command] as const))(
    'of %s fits 80 columns, and has the description before options and examples',
    (_, command) => {
      const text = command.helpInformation();
      for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
      const order = ['Usage:', command.description().slice(0, 20), 'Options:', 'Examples:'];
      const positions = order.map((title) => text.indexOf(title)).filter((position) => position >= 0);
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
    },
  );

  it('of the program has every exit code', () => {
    const text = program.helpInformation();
    for (const [name, code] of Object.entries(EXIT)) expect(text).toContain(`${code} ${name}`);
  });

  it('has no colours where the output has none', () => {
    expect(program.helpInformation()).not.toContain('\u001b');
  });
});
