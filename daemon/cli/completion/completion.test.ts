import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SLOT_KEYS } from '../../contract/slot-keys.ts';
import { scratchOfFile } from '../../lib/testing/scratch.ts';
import { createProgram } from '../program.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { steps } from './steps.ts';
import { zshCompletion } from './zsh.ts';

const folder = scratchOfFile();
const program = createProgram();

/** Puts a stub of svcctl on PATH that prints known names. */
beforeAll(() => {
  const stub =
    '#!/bin/sh\ncase "$*" in "slots list --quiet") echo agent; echo utility;; "models list --quiet") echo tiny;; esac\n';
  writeFileSync(join(folder, 'svcctl'), stub, { mode: 0o755 });
  writeFileSync(join(folder, 'completion.bash'), bashCompletion(program));
});

/** Returns the candidates of the real bash at the end of a line. The last word is incomplete. */
function candidates(...words: string[]): string[] {
  const line = ['svcctl', ...words].map((word) => `'${word}'`).join(' ');
  const script = `source ${folder}/completion.bash; PATH=${folder}:$PATH; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _svcctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const ran = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  return ran.stdout.split('\n').filter((word) => word !== '');
}

describe('bash', () => {
  it.each([
    [['sl'], ['slots']],
    [
      ['slots', 's'],
      ['show', 'swap', 'settings', 'set'],
    ],
    [
      ['auth', 'rotate', ''],
      ['admin', 'client'],
    ],
    [
      ['slots', 'load', ''],
      ['agent', 'utility'],
    ],
    [['slots', 'load', 'u'], ['utility']],
    [['slots', 'load', 'agent', ''], []],
    [['slots', 'set', 'agent', 'context=1', 'pinn'], ['pinned=']],
    [
      ['slots', 'load', '-'],
      ['--wait', '--no-wait', '--help', '--json', '--url', '--version'],
    ],
    [['slots', 'swap', 'agent', ''], ['tiny']],
    [['slots', '--json', 'show', 'a'], ['agent']],
    [['--url', 'http://x', 'slots', 'show', 'a'], ['agent']],
    [['slots', 'load', '--no'], ['--no-wait']],
    [['slots', 'plan', 'agent', '--model', ''], ['tiny']],
    [['logs', '--level', 'w'], ['warn']],
    [
      ['logs', ''],
      ['agent', 'utility'],
    ],
    [['logs', '--lines', ''], []],
    [['help', 'comp'], ['completion']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['hardware', ''],
      ['show', 'probe'],
    ],
    [
      ['requests', '--state', ''],
      ['running', 'done'],
    ],
    [['status', ''], []],
    [['slots', 'create', 'new', 'context'], ['context=']],
    [['nonsense', ''], []],
  ])('%j offers %j', (words, expected) => expect(candidates(...words)).toEqual(expected));

  it('offers every key of a slot file', () => {
    expect(candidates('slots', 'set', 'agent', '')).toEqual(Object.keys(SLOT_KEYS).map((key) => `${key}=`));
  });
});

describe('the three shells', () => {
  it.each([
    ['bash', bashCompletion],
    ['zsh', zshCompletion],
    ['fish', fishCompletion],
  ])('%s knows every command and every option', (_, script) => {
    const text = script(program);
    for (const { path } of program.leaves) expect(text).toContain(`'${path}'`);
    const names = program.leaves.flatMap(({ options }) => options.map(({ long }) => long?.slice(2)));
    for (const name of [...names, 'json', 'url', 'help', 'version'])
      expect(text).toMatch(new RegExp(`(--|-l )${name}\\b`));
  });
});

describe('steps', () => {
  it('has one step for each word of each command', () => {
    const paths = steps(program).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const { path } of program.leaves) expect(paths).toContain(path);
  });
});
