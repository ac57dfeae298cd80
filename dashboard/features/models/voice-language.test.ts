import { expect, test } from 'vitest';
import { languageName } from './voice-language.ts';

test.each([
  ['de', 'German'],
  ['en-US', 'American English'],
  ['Chinese+English', 'Chinese+English'],
  ['x', 'x'],
])('%s is shown as %s', (tag, name) => expect(languageName(tag)).toBe(name));
