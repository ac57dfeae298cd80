import { duration } from '../../ui/format.ts';

const HOUR_S = 3600;

/** Includes the seconds under an hour, so that the countdown visibly moves. */
function countdown(seconds: number): string {
  const rest = seconds % 60;
  if (seconds < 60 || seconds >= HOUR_S || rest === 0) return duration(seconds * 1000);
  return `${duration((seconds - rest) * 1000)} ${duration(rest * 1000)}`;
}

/** Describes when the next attempt starts. */
export function retryWords(at: number, now: number): string {
  const seconds = Math.ceil((at - now) / 1000);
  if (seconds <= 0) return 'Retrying as soon as possible.';
  return `Retrying in ${countdown(seconds)}.`;
}
