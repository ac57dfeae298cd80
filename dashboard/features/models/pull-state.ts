import type { PullRecord, PullStateName } from '../../../daemon/contract/pulls.ts';
import { byteRate, byteSize, duration } from '../../ui/format.ts';
import type { Tone } from '../../ui/tone.ts';

/** Label and tone of each state. */
export const PULL_BADGES: Record<PullStateName, { tone: Tone; word: string }> = {
  queued: { tone: 'busy', word: 'Queued' },
  running: { tone: 'busy', word: 'Downloading' },
  paused: { tone: 'idle', word: 'Paused' },
  verifying: { tone: 'busy', word: 'Verifying' },
  done: { tone: 'ok', word: 'Done' },
  failed: { tone: 'failed', word: 'Failed' },
  cancelled: { tone: 'idle', word: 'Cancelled' },
};

export type PullAction = 'pause' | 'resume' | 'cancel';

const ACTS: Record<PullStateName, readonly PullAction[]> = {
  queued: ['pause', 'cancel'],
  running: ['pause', 'cancel'],
  verifying: ['cancel'],
  paused: ['resume', 'cancel'],
  failed: ['resume', 'cancel'],
  done: [],
  cancelled: [],
};

/** Actions that the current state allows. */
export const pullActions = ({ state }: Pick<PullRecord, 'state'>): readonly PullAction[] => ACTS[state];

/** Whether a download is neither done nor cancelled. */
export const isOpen = ({ state }: Pick<PullRecord, 'state'>): boolean =>
  state !== 'done' && state !== 'cancelled';

/** Progress from 0 to 1; 0 while the size is unknown. */
export const shareOf = ({ bytes, total }: Pick<PullRecord, 'bytes' | 'total'>): number =>
  total <= 0 ? 0 : Math.min(1, bytes / total);

/** Bytes, speed and time left in one line. */
export function progressLine(pull: PullRecord): string {
  const { state, bytes, total, speed, eta_s, retries } = pull;
  if (state === 'done') return byteSize(total);
  const moves = state === 'running';
  return [
    `${byteSize(bytes)} of ${byteSize(total)}`,
    moves && speed !== null ? byteRate(speed) : null,
    moves && eta_s !== null ? `${duration(eta_s * 1000)} left` : null,
    moves && speed === null ? 'stalled' : null,
    retries > 0 ? `${retries} ${retries === 1 ? 'retry' : 'retries'}` : null,
  ]
    .filter((part) => part !== null)
    .join(' · ');
}
