import { duration } from '../../ui/format.ts';

const HOUR_S = 3600;

/** Whole seconds, also behind minutes: of a countdown one wants to see that it goes on. */
function countdown(seconds: number): string {
  const rest = seconds % 60;
  if (seconds < 60 || seconds >= HOUR_S || rest === 0) return duration(seconds * 1000);
  return `${duration((seconds - rest) * 1000)} ${duration(rest * 1000)}`;
}

/** When something is tried again, as a sentence. */
export function retryWords(at: number, now: number): string {
  const seconds = Math.ceil((at - now) / 1000);
  if (seconds <= 0) return 'It is tried again as soon as it can be.';
  return `It is tried again in ${countdown(seconds)}.`;
}
