import type { UpstreamHealth, UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
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

type Keyed = Pick<UpstreamRecord, 'enabled' | 'health' | 'key_env' | 'key_set'>;

/** The variable that should hold the key and has no value; null where none is missed. */
export function missingKey({ enabled, health, key_env, key_set }: Keyed): string | null {
  if (!enabled || key_set !== false || key_env == null) return null;
  // Whoever answers without a key needs none, and one that cannot be reached has a greater trouble.
  return health === 'unknown' || health === 'auth_failed' ? key_env : null;
}

/** How an upstream stands: its health, unless a missing key explains more. */
export const upstreamLook = (upstream: Keyed): { tone: Tone; word: string } =>
  missingKey(upstream) === null ? HEALTH[upstream.health] : { tone: 'attention', word: 'Key is missing' };
