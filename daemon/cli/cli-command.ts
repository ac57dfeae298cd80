import { styleText } from 'node:util';
import { type Argument, Command, Help, type Option } from 'commander';
import type { Handler } from './command.ts';

/** Imports the handler of a command. Loading code takes most of the time of a short command. */
export type HandlerLoader = () => Promise<Handler>;

type Note = readonly [title: string, lines: readonly string[]];

/** A command of svcctl, or a group of commands. */
export class CliCommand extends Command {
  #examples: readonly string[] = [];
  #notes: readonly Note[] = [];
  #load: HandlerLoader | null = null;

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  override createHelp(): Help {
    return new CliHelp();
  }

  /** Sets the line for lists of commands, and more sentences for the help of this command. */
  describe(summary: string, details = ''): this {
    return this.summary(summary).description(`${summary}.${details === '' ? '' : ` ${details}`}`);
  }

  /** Adds a command that only has sub-commands. */
  group(name: string, summary: string): CliCommand {
    return this.command(name).describe(summary).helpCommand(false);
  }

  withArguments(...args: readonly Argument[]): this {
    for (const argument of args) this.addArgument(argument);
    return this;
  }

  withOptions(...options: readonly Option[]): this {
    for (const option of options) this.addOption(option);
    return this;
  }

  /** Sets the command lines that the help shows as examples. */
  examples(...lines: readonly string[]): this {
    this.#examples = lines;
    return this;
  }

  /** Adds lines with a title to the end of the help. */
  note(title: string, ...lines: readonly string[]): this {
    this.#notes = [...this.#notes, [title, lines]];
    return this;
  }

  /** Sets the import of what the command runs. */
  runs(load: HandlerLoader): this {
    this.#load = load;
    return this.action(() => {});
  }

  /** Null for a group. */
  get load(): HandlerLoader | null {
    return this.#load;
  }

  get exampleLines(): readonly string[] {
    return this.#examples;
  }

  /** The titled lines at the end of the help. */
  get notes(): readonly Note[] {
    return this.#examples.length === 0 ? this.#notes : [['Examples:', this.#examples], ...this.#notes];
  }

  /** The words that select the command; empty for the program. */
  get path(): string {
    return this.parent instanceof CliCommand ? `${this.parent.path} ${this.name()}`.trim() : '';
  }

  get children(): CliCommand[] {
    return this.commands.filter((command) => command instanceof CliCommand);
  }

  /** For example `svcctl slots load [options] <slot>`. */
  get usageLine(): string {
    return this.createHelp().commandUsage(this);
  }

  /** All commands below this one that can be run, in the order of the help. */
  get leaves(): CliCommand[] {
    return this.load === null ? this.children.flatMap((child) => child.leaves) : [this];
  }
}

/** Returns a text with the values that an argument or option accepts. */
const withChoices = (text: string, choices: readonly string[] | undefined): string =>
  choices === undefined ? text : `${text} (${choices.join(', ')})`;

/** The layout of the help: what the command does, arguments, options, sub-commands, examples. */
class CliHelp extends Help {
  override showGlobalOptions = true;

  override subcommandTerm(command: Command): string {
    const args = command.registeredArguments.map((argument) => {
      const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
      return argument.required ? `<${name}>` : `[${name}]`;
    });
    return [command.name(), ...args].join(' ');
  }

  override argumentDescription({ description, argChoices }: Argument): string {
    return withChoices(description, argChoices);
  }

  override optionDescription({ description, argChoices }: Option): string {
    return withChoices(description, argChoices);
  }

  override styleTitle(title: string): string {
    return styleText('bold', title);
  }

  override formatHelp(command: Command, helper: Help): string {
    const notes = command instanceof CliCommand ? command.notes : [];
    const parts = notes.flatMap(([title, lines]) => [
      this.styleTitle(title),
      ...lines.map((line) => `  ${line}`),
      '',
    ]);
    return [super.formatHelp(command, helper), ...parts].join('\n');
  }
}
