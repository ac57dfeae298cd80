import { expect, test } from 'vitest';
import { isTomlFileName } from './toml-file-name.ts';

test.each([
  ['agent.toml', true],
  ['My Slot.toml', true],
  ['.agent.toml', false],
  ['.#agent.toml', false],
  ['.agent.toml.swp', false],
  ['.agent.toml.123.0123456789abcdef.tmp', false],
  ['..data', false],
  ['agent.toml~', false],
  ['agent.toml.swp', false],
  ['#agent.toml#', false],
  ['agent.toml.bak', false],
  ['agent.TOML', false],
  ['.toml', false],
])('%s: %s', (name, expected) => expect(isTomlFileName(name)).toBe(expected));
