import { useEffect, useState } from 'react';

/** Whole seconds until a time in Unix milliseconds, at least zero. */
export function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1000));
}

/** Counts down the seconds until a time in Unix milliseconds; 0 for null. */
export function useCountdown(until: number | null): number {
  const [, tick] = useState(0);
  useEffect(() => {
    if (until === null) return;
    const update = (): void => {
      tick(Date.now());
      if (Date.now() >= until) clearInterval(timer);
    };
    const timer = setInterval(update, 250);
    update();
    return () => clearInterval(timer);
  }, [until]);
  return until === null ? 0 : secondsLeft(until, Date.now());
}
