import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

interface Parsed {
  readonly mode: string;
  readonly paths: readonly string[];
  readonly ref: string | null;
  readonly groups: readonly string[];
  readonly error?: string;
}
const { groupPaths, parseArguments } = (await import(
  pathToFileURL(`${import.meta.dirname}/arguments.mjs`).href
)) as {
  parseArguments: (args: readonly string[]) => Parsed;
  groupPaths: (paths: readonly string[]) => Record<'vitest' | 'browser' | 'system', string[]>;
};

describe('parseArguments', () => {
  test.each<[string[], Partial<Parsed>]>([
    [[], { mode: 'all', paths: [] }],
    [['daemon/auth', 'e2e/slots.spec.ts'], { mode: 'all', paths: ['daemon/auth', 'e2e/slots.spec.ts'] }],
    [['--changed'], { mode: 'changed', ref: null, paths: [] }],
    [['--changed', 'HEAD~3'], { mode: 'changed', ref: 'HEAD~3', paths: [] }],
    [['--watch', 'daemon/auth'], { mode: 'watch', paths: ['daemon/auth'] }],
    [['--system', '--with', 'torch'], { mode: 'system', groups: ['torch'] }],
    [['--system', '--with', 'torch', '--with', 'builds'], { mode: 'system', groups: ['torch', 'builds'] }],
  ])('%j', (args, expected) => {
    expect(parseArguments(args)).toMatchObject(expected);
  });

  test.each<[string[], RegExp]>([
    [['--fast'], /unknown option --fast/],
    [['--system', '--with'], /--with takes one of: clients, models, torch, builds/],
    [['--system', '--with', 'cuda'], /--with takes one of: clients, models, torch, builds/],
    [['--with', 'torch'], /needs npm run test:system/],
    [['--changed', 'a', 'b'], /takes one commit or branch/],
  ])('refuses %j', (args, message) => {
    expect(parseArguments(args).error).toMatch(message);
  });
});

test('groupPaths sends each path to the runner that knows it', () => {
  const paths = [
    'daemon/auth',
    'scripts/build',
    'e2e/slots.spec.ts',
    'e2e/system/fuzz',
    'e2e',
    'e2e/systems.spec.ts',
  ];
  expect(groupPaths(paths)).toEqual({
    vitest: ['daemon/auth', 'scripts/build'],
    browser: ['e2e/slots.spec.ts', 'e2e', 'e2e/systems.spec.ts'],
    system: ['e2e/system/fuzz'],
  });
});
