import { SLOT_KEYS } from '../../contract/slot-keys.ts';
import type { Command, CompletionSource } from '../command.ts';
import { OPTIONS, type OptionName, optionRow, optionsOf } from '../options.ts';

/** Candidates: fixed words, or names that a svcctl command fetches from the gateway. */
export interface Candidates {
  readonly fixed: readonly string[];
  readonly query: `${'slots' | 'models' | 'upstreams'} list --quiet` | null;
}

/**
 * One step of a command line: the words so far that name a command or a group, and the candidates that
 * follow.
 */
export interface Step {
  /** `` at the start, then `slots`, `slots load`. */
  readonly path: string;
  /** Indexed by the number of arguments so far. The last entry applies to all further arguments. */
  readonly words: readonly Candidates[];
  readonly options: readonly OptionName[];
}

const NOTHING: Candidates = { fixed: [], query: null };

function wordsOf(offer: CompletionSource): Candidates {
  if (offer === 'slot' || offer === 'model' || offer === 'upstream') {
    return { fixed: [], query: `${offer}s list --quiet` };
  }
  if (offer === 'slot-setting') return { fixed: Object.keys(SLOT_KEYS).map((key) => `${key}=`), query: null };
  return { fixed: offer, query: null };
}

/** The words that may follow a path of command words. */
function nextWords(commands: readonly Command[], path: string): string[] {
  const depth = path === '' ? 0 : path.split(' ').length;
  const below = commands.filter(({ words }) => path === '' || words.startsWith(`${path} `));
  return [...new Set(below.map(({ words }) => words.split(' ')[depth] ?? ''))].filter((word) => word !== '');
}

const prefixes = (words: string): string[] =>
  words.split(' ').map((_, index, all) => all.slice(0, index + 1).join(' '));

/** Returns every step of a command line, from the command table. */
export function steps(commands: readonly Command[]): Step[] {
  const top = nextWords(commands, '');
  const paths = [...new Set(commands.flatMap(({ words }) => prefixes(words)))];
  const start: Step = {
    path: '',
    words: [{ fixed: [...top, 'help'], query: null }, NOTHING],
    options: optionsOf(),
  };
  const help: Step = { path: 'help', words: [{ fixed: top, query: null }, NOTHING], options: optionsOf() };
  return [start, help, ...paths.map((path) => stepOf(commands, path))];
}

function stepOf(commands: readonly Command[], path: string): Step {
  const command = commands.find(({ words }) => words === path);
  const below = nextWords(commands, path);
  const [first = NOTHING, ...later] = (command?.completions ?? []).map(wordsOf);
  const words = [{ ...first, fixed: [...below, ...first.fixed] }, ...later];
  return {
    path,
    words: command?.completions ? words : [...words, NOTHING],
    options: optionsOf(command?.options),
  };
}

/** Options that are followed by a value, as they are written. */
export const valueOptions = (): string[] =>
  (Object.keys(OPTIONS) as OptionName[])
    .filter((name) => optionRow(name).type === 'string')
    .flatMap((name) => {
      const { short } = optionRow(name);
      return short ? [`--${name}`, `-${short}`] : [`--${name}`];
    });

/** Candidates for the value of an option. */
export const optionWords = (): { option: string; words: Candidates }[] =>
  (Object.keys(OPTIONS) as OptionName[]).flatMap((name) => {
    const { words } = optionRow(name);
    if (words) return [{ option: `--${name}`, words: { fixed: words, query: null } }];
    return name === 'model' ? [{ option: '--model', words: wordsOf('model') }] : [];
  });
