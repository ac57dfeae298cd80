import type { UpstreamHealth, UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import type { Tone } from '../../ui/tone.ts';

/** Label and tone of the health of an upstream. */
export const HEALTH: Record<UpstreamHealth, { tone: Tone; word: string }> = {
  unknown: { tone: 'idle', word: 'Not checked yet' },
  ok: { tone: 'ok', word: 'Online' },
  busy: { tone: 'busy', word: 'Busy' },
  failing: { tone: 'attention', word: 'Last request failed' },
  down: { tone: 'failed', word: 'Down' },
  auth_failed: { tone: 'failed', word: 'Key rejected' },
  loop: { tone: 'failed', word: 'Points back to this gateway' },
  disabled: { tone: 'idle', word: 'Disabled' },
};

type Keyed = Pick<UpstreamRecord, 'enabled' | 'health' | 'key_env' | 'key_set'>;

/** The unset variable that should hold the key; null when no key is missing. */
export function missingKey({ enabled, health, key_env, key_set }: Keyed): string | null {
  if (!enabled || key_set !== false || key_env == null) return null;
  // An upstream that responds without a key needs none; for an unreachable one the connection error matters more.
  return health === 'unknown' || health === 'auth_failed' ? key_env : null;
}

/** Label and tone of an upstream: its health, or that its key is missing. */
export const upstreamBadge = (upstream: Keyed): { tone: Tone; word: string } =>
  missingKey(upstream) === null ? HEALTH[upstream.health] : { tone: 'attention', word: 'Key missing' };
