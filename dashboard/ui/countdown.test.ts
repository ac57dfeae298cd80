import { describe, expect, it } from 'vitest';
import { secondsLeft } from './countdown.ts';

describe('secondsLeft', () => {
  it('rounds up, so that zero means the wait is over', () => {
    expect(secondsLeft(41_000, 0)).toBe(41);
    expect(secondsLeft(41_000, 1)).toBe(41);
    expect(secondsLeft(41_000, 40_001)).toBe(1);
    expect(secondsLeft(41_000, 41_000)).toBe(0);
    expect(secondsLeft(41_000, 99_000)).toBe(0);
  });
});
