import { socketCandidates } from '../lib/container-engine/sockets.ts';
import type { Settings } from '../settings/settings.ts';

/** Where engines of containers are looked for: the setting, else the usual places of this user and of the machine. */
export function containerSockets(settings: Pick<Settings, 'value' | 'environment'>): string[] {
  const user = process.getuid?.();
  const usual = user === undefined ? undefined : `/run/user/${user}`;
  return socketCandidates({
    configured: settings.value('containerSocket'),
    runtimeFolder: settings.environment('XDG_RUNTIME_DIR') ?? usual,
  });
}
