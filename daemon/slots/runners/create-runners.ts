import { ContainerEngine } from '../../lib/container-engine/container-engine.ts';
import type { QueryEngine } from '../lifecycle/health.ts';
import type { SlotsOptions } from '../slots-options.ts';
import { createRunners, type Runners } from './table.ts';

/** Returns the runners of these slots, or the one that replaces all of them. */
export function runnersFor(options: SlotsOptions, query: QueryEngine): Runners {
  const { runner, settings, nodePath = process.execPath, workerPath } = options;
  if (runner !== undefined) return { worker: runner, process: runner, container: runner, attach: runner };
  const { state: stateFolder } = settings.folders;
  const environment = (name: string) => settings.environment(name);
  return createRunners({
    ...{ stateFolder, nodePath, workerPath, environment, query },
    kvCache: options.kvCache,
    log: options.log,
    listenPort: () => options.listenPort?.() ?? settings.value('port'),
    containers: {
      sockets: () => options.containerSockets?.() ?? [],
      connect: (socket, signal) => ContainerEngine.connect(options.outbound, socket, signal),
    },
    keepContainers: () => settings.value('keepContainers'),
  });
}
