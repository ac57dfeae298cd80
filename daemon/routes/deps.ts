import type { Auth } from '../auth/auth.ts';
import type { Companion } from '../companion/companion.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { Hardware } from '../hardware/hardware.ts';
import type { InferenceCall } from '../inference/call-context.ts';
import type { ModelBench } from '../inference/model-bench.ts';
import type { Inference } from '../inference/serve.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import type { LogLines } from '../lib/text/log-lines.ts';
import type { Memory } from '../memory/memory.ts';
import type { Catalog } from '../models/catalog-store.ts';
import type { Hub } from '../models/hub/hub.ts';
import type { RemoteHeaders } from '../models/hub/remote-header.ts';
import type { Pulls } from '../models/pulls/pulls.ts';
import type { Registry } from '../models/registry.ts';
import type { Settings } from '../settings/settings.ts';
import type { Setup } from '../setup/setup.ts';
import type { KvCache } from '../slots/kv-cache/kv-cache.ts';
import type { Slots } from '../slots/slots.ts';
import type { Store } from '../store/store.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Minutes } from '../telemetry/minutes.ts';
import type { RefusedRequests } from '../telemetry/refused-requests.ts';
import type { AllUpstreams } from '../upstreams/port.ts';

/** Where the gateway listens. */
export interface Listener {
  readonly bindHost: string;
  readonly port: number;
  readonly loopback: boolean;
}

/** One file of the built dashboard. */
export interface DashboardFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** The same content compressed with gzip; null where that is not worth it. */
  readonly gzip: Buffer | null;
  readonly immutable: boolean;
}

/** Dependencies of the handlers, created once by the composition root. */
export interface RouteDeps {
  readonly name: string;
  readonly version: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly hostName: string;
  readonly settings: Settings;
  readonly store: Store;
  readonly log: Log;
  /** The last lines of `log`. */
  readonly logLines: LogLines;
  readonly bus: EventBus<GatewayEvents>;
  readonly auth: Auth;
  readonly hardware: Hardware;
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly hub: Hub;
  readonly headers: RemoteHeaders;
  readonly pulls: Pulls;
  readonly slots: Slots;
  readonly kvCache: KvCache;
  readonly bench: Pick<ModelBench, 'measure'>;
  readonly setup: Setup;
  readonly upstreams: AllUpstreams;
  readonly inference: Inference;
  readonly memory: Memory;
  /** The companion chat UI. */
  readonly companion: Companion;
  /** Chat, with the tool loop for requests that enable it. */
  readonly omni: { chat(call: InferenceCall): Promise<void> };
  readonly metrics: Metrics;
  readonly minutes: Pick<Minutes, 'rows'>;
  readonly refusedRequests: Pick<RefusedRequests, 'list' | 'find'>;
  readonly dashboard: ReadonlyMap<string, DashboardFile>;
  /** Aborted when the gateway begins to stop. Endless responses end then. */
  readonly stopping: AbortSignal;
  listener(): Listener;
}
