import type { StatusOverviewView } from '../../daemon/contract/system.ts';
import type { Tone } from '../ui/tone.ts';

export interface Posture {
  /** Short label for the top bar. */
  word: string;
  tone: Tone;
  /** Full description. */
  sentence: string;
}

type Guard = Pick<StatusOverviewView, 'has_admin_key' | 'guard_remote_admin'>;
type Facts = Pick<StatusOverviewView, 'listener' | 'enforcement'> & Guard;

/** Why other machines could change settings while no key is required; null when the admin key prevents it. */
export function openToChanges(guard: Guard): string | null {
  if (!guard.has_admin_key) return 'no admin key is set';
  return guard.guard_remote_admin ? null : '[security].guard_remote_admin is off';
}

/**
 * Returns who can use the gateway right now (docs/spec/specification.md#enforcement,
 * docs/spec/contract.md#enforcement-off).
 */
export function postureOf(facts: Facts): Posture {
  const at = `${facts.listener.bind_host}:${facts.listener.port}`;
  if (facts.enforcement.require_auth && !facts.has_admin_key) {
    return {
      word: 'keys required',
      tone: 'failed',
      sentence:
        'Keys are required but no admin key is set, so no one can log in. Set SVC_ADMIN_KEY in api.env.',
    };
  }
  if (facts.enforcement.require_auth) {
    return {
      word: 'keys required',
      tone: 'ok',
      sentence: `All requests to ${at} need a key, except for a few public routes.`,
    };
  }
  if (facts.listener.loopback) {
    return {
      word: 'open to this machine',
      tone: 'idle',
      sentence: `Only this machine can connect to ${at}, without a key.`,
    };
  }
  const why = openToChanges(facts);
  const rest =
    why === null
      ? 'Changing settings from another machine still needs the admin key.'
      : `They can also change all settings, because ${why}.`;
  return {
    word: 'open to the network',
    tone: 'attention',
    sentence: `Anyone who can connect to ${at} can use the models without a key. ${rest}`,
  };
}
