import { expect, test } from 'vitest';
import { stepTone } from './routing-steps.tsx';

test.each([
  ['matched', true, 'ok'],
  ['failed', true, 'idle'],
  ['skipped', false, 'idle'],
  ['failed', false, 'attention'],
] as const)('%s, placed %s', (outcome, placed, tone) => expect(stepTone(outcome, placed)).toBe(tone));
