import { useEffect, useState } from 'react';

/** Whole seconds that are left until `until` (Unix milliseconds), never below zero. */
export function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1000));
}

/** Whole seconds until a moment (Unix milliseconds), counted down; null = nothing to count. */
export function useCountdown(until: number | null): number {
  const [, tick] = useState(0);
  useEffect(() => {
    if (until === null) return;
    const look = (): void => {
      tick(Date.now());
      if (Date.now() >= until) clearInterval(timer);
    };
    const timer = setInterval(look, 250);
    look();
    return () => clearInterval(timer);
  }, [until]);
  return until === null ? 0 : secondsLeft(until, Date.now());
}
