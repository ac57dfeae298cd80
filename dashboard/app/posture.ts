import type { StatusOverviewView } from '../../daemon/contract/system.ts';
import type { Tone } from '../ui/tone.ts';

export interface Posture {
  /** The plain word of the top bar. */
  word: string;
  tone: Tone;
  /** The whole truth in one sentence. */
  sentence: string;
}

type Facts = Pick<StatusOverviewView, 'listener' | 'enforcement' | 'has_admin_key'>;

/** Who can use the gateway right now (spec "Authentication enforcement", contract "Enforcement off"). */
export function postureOf(facts: Facts): Posture {
  const at = `${facts.listener.bind_host}:${facts.listener.port}`;
  if (facts.enforcement.require_auth && !facts.has_admin_key) {
    return {
      word: 'keys required',
      tone: 'failed',
      sentence:
        'Keys are required but no admin key is set, so nobody can get in. Set SVC_ADMIN_KEY in api.env.',
    };
  }
  if (facts.enforcement.require_auth) {
    return {
      word: 'keys required',
      tone: 'ok',
      sentence: `Every caller of ${at} needs a key, except for the few open routes.`,
    };
  }
  if (facts.listener.loopback) {
    return {
      word: 'open to this machine',
      tone: 'idle',
      sentence: `Only programs on this machine reach ${at}, and they need no key.`,
    };
  }
  const rest = facts.has_admin_key
    ? 'Changing anything from another machine still needs the admin key.'
    : 'They can also change everything, because no admin key is set.';
  return {
    word: 'open to the network',
    tone: 'attention',
    sentence: `Everyone who reaches ${at} can use the models without a key. ${rest}`,
  };
}
