import type { GatewayEvents } from '../contract/events.ts';
import type { Hardware } from '../hardware/hardware.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import type { Settings } from '../settings/settings.ts';
import { KvCache } from '../slots/kv-cache/kv-cache.ts';

export interface KvCacheSources {
  readonly settings: Settings;
  readonly log: Log;
  readonly bus: EventBus<GatewayEvents>;
  readonly hardware: Hardware;
}

/**
 * Opens the saved states of conversations and makes them follow settings and models. `hardware` counts their memory as
 * available, because `reclaimHost` deletes them for a load that needs it.
 */
export function openKvCache({ settings, log, bus, hardware }: KvCacheSources) {
  const states = new KvCache({
    log,
    stateFolder: settings.folders.state,
    persist: () => settings.value('kvCachePersist'),
    maxDiskBytes: () => settings.value('kvCacheMaxBytes'),
    memoryBytes: () => hardware.memoryTotal(),
  });
  settings.onChange(() => states.settingsChanged());
  bus.subscribe(({ name, payload }) => {
    const model = name === 'model' ? (payload as GatewayEvents['model']) : null;
    if (model?.change === 'removed') states.modelRemoved(model.id);
  });
  const withStates: Hardware = {
    ...hardware,
    memoryAvailable: (options) => hardware.memoryAvailable(options) + states.reclaimableBytes(),
  };
  return {
    states,
    hardware: withStates,
    reclaimHost: (bytes: number) => states.reclaim(bytes, hardware.memoryAvailable({ fresh: true })),
  };
}
