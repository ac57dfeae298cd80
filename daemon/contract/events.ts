import type { PullRecord } from './pulls.ts';
import type { SlotRecord } from './slots.ts';
import type { UpstreamHealth } from './upstreams.ts';

/** Events of `GET /api/events`. `config` and `auth` events go to admins only. */
export interface GatewayEvents {
  slot: { slot: SlotRecord };
  slot_removed: { name: string };
  hardware: { probed_at: number };
  upstream: { name: string; health: UpstreamHealth | 'removed'; models: number };
  model: { id: string; change: 'added' | 'changed' | 'removed' };
  /** At each change of state, and about once a second while data arrives. */
  pull: { pull: PullRecord };
  request: {
    id: string;
    route: string;
    slot: string | null;
    state: 'started' | 'ended';
    status: number | null;
  };
  /** Progress of an image; `id` is the `prompt_id` of its response unless the engine chooses its own. */
  image: {
    id: string;
    request: string;
    model: string;
    slot: string | null;
    state: 'queued' | 'drawing' | 'done' | 'failed';
    /** Completed share, 0 to 1; null when the engine does not report it. */
    progress: number | null;
  };
  config: { change: 'reloaded' | 'broken' | 'written'; problems: number };
  auth: { change: 'login' | 'logout' | 'rotate' | 'require' | 'sessions_ended'; tier?: 'admin' | 'client' };
}
export type EventName = keyof GatewayEvents;

/** Events whose content only the admin tier may see. */
export const ADMIN_EVENTS: ReadonlySet<EventName> = new Set(['config', 'auth', 'request']);
