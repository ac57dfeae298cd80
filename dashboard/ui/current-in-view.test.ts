import { expect, test } from 'vitest';
import { centred } from './current-in-view.ts';

test.each([
  [{ offsetLeft: 300, offsetWidth: 60 }, 320, 170],
  [{ offsetLeft: 0, offsetWidth: 60 }, 320, -130],
])('centres %j in %i', (part, width, left) => expect(centred(part, width)).toBe(left));
