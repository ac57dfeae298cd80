import { useEffect, useState } from 'react';

/** Whole seconds that are left until `until` (Unix milliseconds), never below zero. */
export function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1000));
}

/** Counts down from `seconds` once per second; starts anew whenever `start` is a new value, null = nothing to count. */
export function useCountdown(seconds: number | null, start: unknown): number {
  const [left, setLeft] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `start` restarts the count although it is not read
  useEffect(() => {
    if (seconds === null) return setLeft(0);
    const until = Date.now() + seconds * 1000;
    setLeft(secondsLeft(until, Date.now()));
    const timer = setInterval(() => {
      const now = secondsLeft(until, Date.now());
      setLeft(now);
      if (now === 0) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [seconds, start]);
  return left;
}
