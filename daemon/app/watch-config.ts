import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { GatewayEvents } from '../contract/events.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import { watchFolder } from '../lib/fs/watch-folder.ts';
import type { Log } from '../lib/log.ts';
import type { Registry } from '../models/registry.ts';
import type { Settings } from '../settings/settings.ts';
import { isTomlFileName } from '../settings/toml-file-name.ts';
import type { Slots } from '../slots/slots-api.ts';

export interface ConfigWatchDeps {
  readonly settings: Settings;
  readonly log: Log;
  readonly bus: EventBus<GatewayEvents>;
  readonly registry: Pick<Registry, 'scan'>;
  readonly slots: Pick<Slots, 'reload'>;
  readonly upstreams: { reload(): void };
}

/** Slot files, and the workflows beside them. */
const isSlotsFile = (name: string): boolean =>
  isTomlFileName(name) || (name.endsWith('.json') && !name.startsWith('.'));

/**
 * Makes each module follow the configuration files that concern it. Returns a function that stops watching
 * their folders.
 */
export function watchConfig({ settings, log, bus, registry, slots, upstreams }: ConfigWatchDeps): () => void {
  let scanned = settings.value('modelFolders');
  settings.onChange((change) => {
    if (!isDeepStrictEqual(scanned, settings.value('modelFolders'))) void registry.scan();
    scanned = settings.value('modelFolders');
    log.level = settings.value('logLevel');
    upstreams.reload();
    bus.emit('config', { change, problems: settings.problems().length });
  });
  const folder = (name: string) => join(settings.folders.config, name);
  const ends = [
    watchFolder(folder('slots'), isSlotsFile, () => slots.reload()),
    watchFolder(folder('upstreams'), isTomlFileName, () => upstreams.reload()),
  ];
  return () => {
    for (const end of ends) end();
  };
}
