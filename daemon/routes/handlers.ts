import { agentRoutes } from './api/agent.ts';
import { authRoutes } from './api/auth.ts';
import { benchRoutes } from './api/bench.ts';
import { eventRoutes } from './api/events.ts';
import { healthRoutes } from './api/health.ts';
import { imageRoutes } from './api/images.ts';
import { kvCacheRoutes } from './api/kv-cache.ts';
import { logRoutes } from './api/logs.ts';
import { memoryRoutes } from './api/memory.ts';
import { registryRoutes } from './api/models.ts';
import { pullRoutes } from './api/pulls.ts';
import { requestRoutes } from './api/requests.ts';
import { secretRoutes } from './api/secrets.ts';
import { settingsRoutes } from './api/settings.ts';
import { setupRoutes } from './api/setup.ts';
import { slotFileRoutes } from './api/slot-files.ts';
import { slotLogRoutes } from './api/slot-logs.ts';
import { slotRoutes } from './api/slots.ts';
import { statusRoutes } from './api/status.ts';
import { systemRoutes } from './api/system.ts';
import { upstreamRoutes } from './api/upstreams.ts';
import { usageRoutes } from './api/usage.ts';
import { hintRoutes } from './base-urls.ts';
import type { RouteDeps } from './deps.ts';
import type { Handlers } from './handler.ts';
import { shellRoutes } from './shell.ts';
import { audioRoutes } from './v1/audio.ts';
import { type BodyReader, inferenceRoutes } from './v1/inference.ts';
import { modelRoutes } from './v1/models.ts';

/** Every row with its handler. */
export function createHandlers(deps: RouteDeps, read: BodyReader): Handlers {
  return {
    ...authRoutes(deps),
    ...healthRoutes(deps),
    ...statusRoutes(deps),
    ...slotRoutes(deps),
    ...upstreamRoutes(deps),
    ...agentRoutes(deps),
    ...registryRoutes(deps),
    ...benchRoutes(deps),
    ...pullRoutes(deps),
    ...slotFileRoutes(deps),
    ...slotLogRoutes(deps),
    ...memoryRoutes(deps),
    ...systemRoutes(deps),
    ...settingsRoutes(deps),
    ...secretRoutes(deps),
    ...setupRoutes(deps),
    ...requestRoutes(deps),
    ...usageRoutes(deps),
    ...logRoutes(deps),
    ...eventRoutes(deps),
    ...imageRoutes(deps),
    ...kvCacheRoutes(deps),
    ...shellRoutes(deps),
    ...hintRoutes(deps),
    ...modelRoutes(deps),
    ...audioRoutes(deps),
    ...inferenceRoutes(deps, read),
  };
}
