import { describe, expect, it } from 'vitest';
import { SetupError } from '../lib/setup-error.ts';
import { assertConfigReadable } from './config-guard.ts';

describe('assertConfigReadable', () => {
  const start = (line: number | null) => () =>
    assertConfigReadable({
      fatalConfigError: () => ({ file: 'config.toml', line, message: 'is not valid TOML' }),
    });

  it('reports file, line and advice', () => {
    expect(start(3)).toThrow('config.toml line 3 is not valid TOML.');
    expect(start(null)).toThrow('config.toml is not valid TOML.');
    expect(start(1)).toThrow(SetupError);
  });

  it('passes when last good values exist', () => {
    expect(() => assertConfigReadable({ fatalConfigError: () => null })).not.toThrow();
  });
});
