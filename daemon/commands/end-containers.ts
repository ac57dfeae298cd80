import { containerSockets } from '../hardware/container-sockets.ts';
import { ContainerEngine } from '../lib/container-engine/container-engine.ts';
import { Outbound } from '../lib/net/outbound.ts';
import { plural } from '../lib/text/plural.ts';
import { loadSettingsReadOnly } from '../settings/read-only-settings.ts';
import { endAllContainers } from '../slots/runners/container/end-all.ts';
import type { SubcommandOptions } from './subcommand-options.ts';

const CONNECT_MS = 5_000;

/**
 * `svc-gateway end-containers`: stops and removes every container that the gateway of this state folder
 * started, and no others. Used when the package is removed: a normal stop keeps containers for the next
 * start. Returns 1 when one could not be removed.
 */
export async function endContainersCommand({ env, out }: SubcommandOptions): Promise<number> {
  const settings = await loadSettingsReadOnly(env);
  const outbound = new Outbound({ connectMs: () => CONNECT_MS });
  try {
    const folders = {
      sockets: () => containerSockets(settings),
      connect: (socket: string, signal: AbortSignal) => ContainerEngine.connect(outbound, socket, signal),
    };
    const { ended, failed } = await endAllContainers(folders, settings.folders.state);
    if (ended > 0) out(`Ended ${plural(ended, 'container')}.\n`);
    if (failed > 0) out(`${plural(failed, 'container')} could not be ended; see podman ps or docker ps.\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    await outbound.close();
  }
}
