import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { findProgram } from './find-program.ts';

let folder: string;
beforeEach(() => {
  folder = scratch();
  for (const name of ['one', 'two']) mkdirSync(join(folder, name));
});

function file(name: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, mode);
  return path;
}

describe('a program', () => {
  it('is found in the first folder of PATH with such an executable', () => {
    file('one/tool', 0o644);
    const tool = file('two/tool', 0o755);
    mkdirSync(join(folder, 'one', 'other'));
    const path = [join(folder, 'one'), 'relative', join(folder, 'two')].join(delimiter);
    expect(findProgram('tool', path)).toBe(tool);
    expect(findProgram('other', path)).toBeNull();
    expect(findProgram('tool', '')).toBeNull();
  });

  it('with an absolute path is used from there only', () => {
    const tool = file('one/tool', 0o755);
    expect(findProgram(tool, '')).toBe(tool);
    expect(findProgram(join(folder, 'two', 'tool'), join(folder, 'one'))).toBeNull();
    expect(findProgram(folder, '')).toBeNull();
  });
});
