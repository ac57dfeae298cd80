import type { StatusOverviewView } from '../../../daemon/contract/system.ts';
import { openToChanges } from '../../app/posture.ts';

type Facts = Pick<StatusOverviewView, 'listener' | 'has_admin_key' | 'guard_remote_admin'>;

/** Describes the effect of no longer requiring keys. */
export function openingSentence(facts: Facts): string {
  if (facts.listener.loopback)
    return 'From the next request, every program on this machine can use and change everything without a key.';
  const all = 'From the next request, anyone who can connect to the gateway can use';
  const why = openToChanges(facts);
  return why === null
    ? `${all} the models without a key. Changes from other machines still need the admin key.`
    : `${all} the models and change everything without a key, because ${why}.`;
}
