import type { UpstreamHealth } from '../../../daemon/contract/upstreams.ts';
import type { Tone } from '../../ui/tone.ts';

/** Health of an upstream as a word and a colour. */
export const HEALTH: Record<UpstreamHealth, { tone: Tone; word: string }> = {
  unknown: { tone: 'idle', word: 'Not asked yet' },
  ok: { tone: 'ok', word: 'Answers' },
  busy: { tone: 'busy', word: 'Busy' },
  failing: { tone: 'attention', word: 'Last call failed' },
  down: { tone: 'failed', word: 'Down' },
  auth_failed: { tone: 'failed', word: 'Refuses our key' },
  loop: { tone: 'failed', word: 'Is this gateway itself' },
  disabled: { tone: 'idle', word: 'Disabled' },
};
