import { describe, expect, it } from 'vitest';
import { createLoginThrottle } from './login-throttle.ts';

describe('login throttle', () => {
  it('L10 does not delay a hundred attempts per minute, then delays by up to one second, and recovers', () => {
    let now = 0;
    const throttle = createLoginThrottle(() => now);
    for (let i = 0; i < 100; i++) expect(throttle.delayMs()).toBe(0);
    expect([throttle.delayMs(), throttle.delayMs()]).toEqual([10, 20]);
    for (let i = 0; i < 10_000; i++) throttle.delayMs();
    expect(throttle.delayMs()).toBe(1_000);
    now = 59_999;
    expect(throttle.delayMs()).toBe(1_000);
    now = 60_000;
    expect(throttle.delayMs()).toBe(0);
    now = 500_000;
    expect(throttle.delayMs()).toBe(0);
  });

  it('counts only actual attempts, at the start and after a pause', () => {
    let now = 0;
    const throttle = createLoginThrottle(() => now);
    const lastDelayOf = (count: number) => Array.from({ length: count }, () => throttle.delayMs()).at(-1);
    expect(lastDelayOf(101)).toBe(10);
    now = 60_000;
    expect(lastDelayOf(101)).toBe(10);
    now = 90_000;
    expect(lastDelayOf(1)).toBe(20);
    now = 120_001;
    expect([lastDelayOf(98), lastDelayOf(2)]).toEqual([0, 10]);
  });

  it('drops each attempt after a minute, for any number of attempts', () => {
    let now = 0;
    const throttle = createLoginThrottle(() => now);
    const lastDelayOf = (count: number) => Array.from({ length: count }, () => throttle.delayMs()).at(-1);
    lastDelayOf(300);
    now = 60_000;
    expect(lastDelayOf(1)).toBe(0);
    now = 60_001;
    expect(lastDelayOf(100)).toBe(10);
    now = 120_000;
    expect(lastDelayOf(1)).toBe(10);
  });
});
