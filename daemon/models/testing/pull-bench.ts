import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayEvents } from '../../contract/events.ts';
import type { PullBody, PullRecord, PullStateName } from '../../contract/pulls.ts';
import { EventBus } from '../../lib/async/event-bus.ts';
import { createLog } from '../../lib/log.ts';
import { Outbound, type OutboundOptions } from '../../lib/net/outbound.ts';
import { openSettings } from '../../settings/open-settings.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createHub, type Hub } from '../hub/hub.ts';
import { createPulls, type Pulls, type PullsDeps } from '../pulls/pulls.ts';
import { createRegistry, type Registry } from '../registry.ts';
import { readInProcess } from './read-in-process.ts';

/** The real parts of pulls, except for the hub. */
export interface PullBench {
  readonly home: string;
  readonly models: string;
  readonly store: Store;
  readonly registry: Registry;
  readonly hub: Hub;
  readonly pulls: Pulls;
  readonly events: PullRecord[];
  /** Resolves once the job is in one of these states. Rejects after 20 s. */
  until(id: string, ...states: PullStateName[]): Promise<PullRecord>;
  /** Creates a job for `model`. */
  pull(model: string, more?: Partial<Omit<PullBody, 'model'>>): Promise<PullRecord>;
  close(): Promise<void>;
}

export interface BenchOptions {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly free?: PullsDeps['free'];
  readonly lookup?: OutboundOptions['lookup'];
  readonly objection?: PullsDeps['objection'];
  readonly onResolved?: PullsDeps['onResolved'];
}

/** Creates pulls of a home folder with the hub at `url`. A given home is not removed. */
export async function pullBench(url: string, options: BenchOptions = {}): Promise<PullBench> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'svc-pulls-'));
  const log = createLog({ level: 'fatal', write: () => {} });
  const settings = await openSettings({
    env: { SVC_HOME: home, SVC_ESPEAK: 'off', HF_ENDPOINT: url, ...options.env },
    log,
    watch: false,
  });
  const store = openStore({ folder: settings.folders.state, log });
  const bus = new EventBus<GatewayEvents>();
  const registry = await createRegistry({
    ...{ store, log, bus, settings, firstScanMs: 20_000 },
    readMetadata: readInProcess,
  });
  const outbound = new Outbound({
    connectMs: () => 2_000,
    ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
  });
  const hub = createHub({ outbound, settings });
  const events: PullRecord[] = [];
  const waiting = new Set<() => void>();
  bus.subscribe(({ name, payload }) => {
    if (name !== 'pull') return;
    events.push((payload as GatewayEvents['pull']).pull);
    for (const check of waiting) check();
  });
  const { objection, onResolved } = options;
  const more = {
    readMetadata: readInProcess,
    ...(options.free === undefined ? {} : { free: options.free }),
    ...(objection === undefined ? {} : { objection }),
    ...(onResolved === undefined ? {} : { onResolved }),
  };
  const pulls = createPulls({ store, settings, log, bus, outbound, hub, registry, baseMs: 5, ...more });
  const find = (id: string) => pulls.list().find((one) => one.id === id);
  return {
    home,
    models: join(home, 'state', 'models'),
    store,
    registry,
    hub,
    pulls,
    events,
    until: (id, ...states) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`waited for ${states.join(' or ')}: ${JSON.stringify(find(id))}`));
        }, 20_000);
        const check = () => {
          const record = find(id);
          if (record === undefined || !states.includes(record.state)) return;
          clearTimeout(limit);
          waiting.delete(check);
          resolve(record);
        };
        waiting.add(check);
        check();
      }),
    pull: (model, body = {}) => pulls.create({ model, ...body }, new AbortController().signal),
    async close() {
      await pulls.close();
      await outbound.close();
      registry.close();
      settings.close();
      store.close();
      if (options.home === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
}
