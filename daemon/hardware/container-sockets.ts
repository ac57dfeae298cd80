import { socketCandidates } from '../lib/container-engine/sockets.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * Returns the sockets of container engines: the setting, else the default paths of this user and of the
 * system.
 */
export function containerSockets(settings: Pick<Settings, 'value' | 'environment'>): string[] {
  const user = process.getuid?.();
  const usual = user === undefined ? undefined : `/run/user/${user}`;
  return socketCandidates({
    configured: settings.value('containerSocket'),
    runtimeFolder: settings.environment('XDG_RUNTIME_DIR') ?? usual,
  });
}
