import { startTicksOf } from './process-identity.ts';

/** Returns the line by which a file names this process: `pid start-ticks`, so that a reassigned pid does not match. */
export const claimText = (): string => `${process.pid} ${startTicksOf(process.pid) ?? 0}\n`;

/** Returns the pid of a claim if the process is running, otherwise null. */
export function holderOf(text: string | null): number | null {
  const match = /^(\d{1,10}) (\d{1,20})\n$/.exec(text ?? '');
  if (!match) return null;
  const pid = Number(match[1]);
  const ticks = startTicksOf(pid);
  return ticks !== null && ticks === Number(match[2]) ? pid : null;
}
