import { expect, it } from 'vitest';
import { commandsFor } from './command-loaders.ts';
import { COMMANDS } from './table.ts';

const first = (words: string): string => words.split(' ', 1)[0] ?? '';

it.each([...new Set(COMMANDS.map(({ words }) => first(words)))])(
  '%s has the rows of the table',
  async (word) => {
    expect(await commandsFor(word)).toEqual(COMMANDS.filter(({ words }) => first(words) === word));
  },
);

it.each(['nonsense', 'constructor', ''])(
  '%j, which no row begins with, has the whole table',
  async (word) => {
    expect(await commandsFor(word)).toBe(COMMANDS);
  },
);
