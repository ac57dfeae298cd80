import { ERRORS, isErrorCode } from '../../../daemon/contract/errors.ts';
import type { PullRecord, PullStateName } from '../../../daemon/contract/pulls.ts';
import { byteRate, duration, gib } from '../../ui/format.ts';
import type { Tone } from '../../ui/tone.ts';

/** Each state as word and colour. */
export const PULL_LOOKS: Record<PullStateName, { tone: Tone; word: string }> = {
  queued: { tone: 'busy', word: 'Waiting its turn' },
  running: { tone: 'busy', word: 'Downloading' },
  paused: { tone: 'idle', word: 'Paused' },
  verifying: { tone: 'busy', word: 'Verifying' },
  done: { tone: 'ok', word: 'Done' },
  failed: { tone: 'failed', word: 'Failed' },
  cancelled: { tone: 'idle', word: 'Cancelled' },
};

export type PullAct = 'pause' | 'resume' | 'cancel';

const ACTS: Record<PullStateName, readonly PullAct[]> = {
  queued: ['pause', 'cancel'],
  running: ['pause', 'cancel'],
  verifying: ['cancel'],
  paused: ['resume', 'cancel'],
  failed: ['resume', 'cancel'],
  done: [],
  cancelled: [],
};

/** What can be done with it now. */
export const pullActs = ({ state }: Pick<PullRecord, 'state'>): readonly PullAct[] => ACTS[state];

/** Whether it needs somebody's eyes: everything that has not come to its end. */
export const isOpen = ({ state }: Pick<PullRecord, 'state'>): boolean =>
  state !== 'done' && state !== 'cancelled';

/** How far it is, as a share of one; 0 before its size is known. */
export const shareOf = ({ bytes, total }: Pick<PullRecord, 'bytes' | 'total'>): number =>
  total <= 0 ? 0 : Math.min(1, bytes / total);

/** Bytes, speed and time left in one line. */
export function progressLine(pull: PullRecord): string {
  const { state, bytes, total, speed, eta_s, retries } = pull;
  if (state === 'done') return gib(total);
  const moves = state === 'running';
  return [
    `${gib(bytes)} of ${gib(total)}`,
    moves && speed !== null ? byteRate(speed) : null,
    moves && eta_s !== null ? `${duration(eta_s * 1000)} left` : null,
    moves && speed === null ? 'nothing comes at the moment' : null,
    retries > 0 ? `tried again ${retries} ${retries === 1 ? 'time' : 'times'}` : null,
  ]
    .filter((part) => part !== null)
    .join(' · ');
}

/** What to do about a failure; null when the catalogue does not know its code. */
export const adviceOf = (code: string): string | null => (isErrorCode(code) ? ERRORS[code].advice : null);
