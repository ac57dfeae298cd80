import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import { upstreamNotFound } from '../contract/not-found.ts';
import type { UpstreamRecord } from '../contract/upstreams.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import type { Outbound } from '../lib/net/outbound.ts';
import { NewProblems, type Problem } from '../settings/problem.ts';
import { revisionOf } from '../settings/revision.ts';
import type { Settings } from '../settings/settings.ts';
import type { Store } from '../store/store.ts';
import { DailyQuota } from './daily-quota.ts';
import { HangMonitor } from './hang-monitor.ts';
import { HealthPoller } from './health-poller.ts';
import { ListReader } from './list-reader.ts';
import { type ListClocks, Listing } from './listing.ts';
import type { AllUpstreams, CallOptions, CallTarget, UpstreamCall, UpstreamState } from './port.ts';
import { probe } from './probe.ts';
import { PROVIDER_KINDS } from './provider-kinds.ts';
import { type ExplainQuery, queryExplain, type RemoteExplanation } from './query-explain.ts';
import type { ListOutcome } from './read-list.ts';
import { isOwnAddress, type OwnAddress } from './self.ts';
import { readStoredLists, storeLists } from './stored-lists.ts';
import { Upstream } from './upstream.ts';
import { UpstreamCalls } from './upstream-calls.ts';
import type { UpstreamConfig } from './upstream-file.ts';
import { readUpstreamFolder } from './upstream-folder.ts';
import { upstreamDetail, upstreamView } from './views.ts';

export interface UpstreamsDeps {
  readonly settings: Pick<Settings, 'folders' | 'environment' | 'value'>;
  readonly store: { readonly keyValue: Store['keyValue'] };
  readonly bus: Pick<EventBus<GatewayEvents>, 'emit'>;
  readonly log: Log;
  readonly outbound: Pick<Outbound, 'dispatch'>;
  /** Where this gateway listens; null until it does. */
  ownAddress(): OwnAddress | null;
  readonly clocks?: ListClocks;
  /** Interval of the health poller, for tests. */
  readonly pollIntervalMs?: number;
  /** Interval of the checks for upstreams that do not respond, for tests. */
  readonly hangTickMs?: number;
  /** Time limit of a probe, for tests. */
  readonly probeLimitMs?: number;
}

/** Age up to which the load that a model list reports counts. Milliseconds. */
const LOAD_AGE_MS = 60_000;
const CLOCKS: ListClocks = { wall: () => Date.now(), monotonic: () => performance.now() };
class LiveUpstreams implements AllUpstreams {
  readonly instance = randomBytes(8).toString('hex');
  readonly #options: UpstreamsDeps;
  readonly #clocks: ListClocks;
  readonly #all = new Map<string, Upstream>();
  readonly #daily: DailyQuota;
  readonly #reader: ListReader;
  readonly #calls: UpstreamCalls;
  readonly #poller: HealthPoller;
  readonly #hangMonitor: HangMonitor;
  readonly #closing = new AbortController();
  readonly #announced = new Map<string, string>();
  #revisions: ReadonlyMap<string, string> = new Map();
  readonly #newProblems = new NewProblems();
  #problems: readonly Problem[] = [];
  #started = false;

  constructor(options: UpstreamsDeps) {
    this.#options = options;
    this.#clocks = options.clocks ?? CLOCKS;
    this.#daily = new DailyQuota(options.store.keyValue, this.#clocks.wall);
    this.#reader = new ListReader({
      outbound: options.outbound,
      instance: this.instance,
      connectMs: (upstream) => this.#connectMs(upstream),
      onRead: (upstream) => this.#onListRead(upstream),
    });
    this.#calls = new UpstreamCalls({
      instance: this.instance,
      all: this.#all,
      daily: this.#daily,
      readInBackground: (upstream) => this.#reader.readInBackground(upstream),
      maxAgeMs: () => this.#maxAgeMs,
      notifyChange: (upstream) => this.#notifyChange(upstream),
      watch: () => this.#hangMonitor.watch(),
      notifyPause: (upstream, model, isPaused) => this.#logPause(upstream, model, isPaused),
    });
    this.#hangMonitor = new HangMonitor({
      upstreams: () => this.#all.values(),
      probe: (upstream) =>
        probe(
          upstream,
          { outbound: options.outbound, instance: this.instance, limitMs: options.probeLimitMs },
          this.#closing.signal,
        ),
      notifyChange: (upstream) => {
        if (!this.#calls.isRemoved(upstream)) this.#notifyChange(upstream);
      },
      tickMs: options.hangTickMs,
    });
    this.#poller = new HealthPoller({
      upstreams: () => [...this.#all.values()],
      poll: (upstream) => this.#reader.readInBackground(upstream),
      maxAgeMs: () => this.#maxAgeMs,
      monotonic: () => this.#clocks.monotonic(),
      intervalMs: options.pollIntervalMs,
    });
    this.reload();
  }

  list(): readonly UpstreamState[] {
    const states: UpstreamState[] = [];
    for (const upstream of this.#all.values())
      if (upstream.config.enabled) states.push(this.#stateOf(upstream));
    return states;
  }

  #stateOf(upstream: Upstream): UpstreamState {
    const { name, kind, remote, priority, localFirst, weight } = upstream.config;
    return {
      name,
      remote,
      isHealthy: this.#calls.isAvailable(upstream),
      isBusy: upstream.isBusy,
      failingModels: upstream.modelBreakers.failing,
      isSpendGuarded: remote && localFirst,
      hasScore: PROVIDER_KINDS[kind].ranking.hasScore,
      priority,
      weight,
      active: upstream.activeCalls.count,
      turn: upstream.turn,
      isListRecent: upstream.listing.isFresh(LOAD_AGE_MS),
      isCold: upstream.isCold(this.#maxAgeMs),
      models: upstream.models,
    };
  }

  connect(name: string, options?: CallOptions): UpstreamCall {
    return this.#calls.connect(name, options);
  }

  refusal(name: string, target?: CallTarget): GatewayError | null {
    return this.#calls.refusal(name, target);
  }

  refreshCold(signal: AbortSignal): Promise<void> {
    return this.#reader.readAll(this.#cold(), signal);
  }

  #cold(): Upstream[] {
    return [...this.#all.values()].filter(
      (upstream) => upstream.config.enabled && upstream.isCold(this.#maxAgeMs),
    );
  }

  views(): UpstreamRecord[] {
    return [...this.#all.values()].map(upstreamView);
  }

  detail(name: string): UpstreamRecord | undefined {
    const upstream = this.#all.get(name);
    if (!upstream) return undefined;
    const waitMs = this.#calls.waitMs(upstream);
    const retryAt = waitMs === null ? null : this.#clocks.wall() + Math.ceil(waitMs);
    const revision = this.#revisions.get(name) ?? revisionOf(null);
    return { ...upstreamDetail(upstream, { requestsToday: this.#daily.of(name), retryAt }), revision };
  }

  config(name: string): UpstreamConfig | undefined {
    return this.#all.get(name)?.config;
  }

  problems(): readonly Problem[] {
    return this.#problems;
  }

  async readList(name: string, signal: AbortSignal): Promise<ListOutcome> {
    const upstream = this.#all.get(name);
    if (!upstream) throw upstreamNotFound(name, [...this.#all.keys()]);
    return this.#reader.read(upstream, signal);
  }

  async explain(name: string, query: ExplainQuery, signal: AbortSignal): Promise<RemoteExplanation | null> {
    const upstream = this.#all.get(name);
    if (upstream === undefined || !PROVIDER_KINDS[upstream.config.kind].isGateway || upstream.isLooping)
      return null;
    const deps = { outbound: this.#options.outbound, instance: this.instance };
    return queryExplain(upstream, query, deps, signal);
  }

  reload(): void {
    const folder = readUpstreamFolder(join(this.#options.settings.folders.config, 'upstreams'));
    if ('problem' in folder) {
      this.#problems = [folder.problem];
      return;
    }
    this.#problems = folder.problems;
    this.#revisions = folder.revisions;
    this.#newProblems.log(folder.problems, (problem) =>
      this.#options.log.warn({ ...problem }, 'problem in an upstream file'),
    );
    const wanted = new Set(folder.configs.map(({ name }) => name));
    for (const name of this.#all.keys()) {
      if (!wanted.has(name) && !folder.broken.has(name)) this.#remove(name);
    }
    for (const config of folder.configs) this.#applyConfig(config);
    for (const upstream of this.#all.values()) upstream.refreshKey();
    this.#readCold();
    if (this.#started) this.#poller.update();
  }

  start(): void {
    this.#started = true;
    this.#poller.update();
    for (const upstream of this.#all.values())
      if (upstream.config.enabled) this.#reader.readInBackground(upstream);
  }

  close(): void {
    this.#started = false;
    this.#poller.stop();
    this.#hangMonitor.stop();
    this.#closing.abort();
    this.#reader.close();
  }

  #applyConfig(config: UpstreamConfig): void {
    const known = this.#all.get(config.name);
    if (known !== undefined && JSON.stringify(known.config) === JSON.stringify(config)) return;
    if (known !== undefined && known.config.at.text === config.at.text) known.configure(config);
    else this.#all.set(config.name, this.#create(config));
    const upstream = this.#all.get(config.name) as Upstream;
    this.#notifyChange(upstream);
  }

  #create(config: UpstreamConfig): Upstream {
    const stored = readStoredLists(this.#options.store.keyValue).get(config.name);
    const listing = new Listing(this.#clocks, stored?.from === config.at.text ? stored : undefined);
    return new Upstream(config, listing, {
      clocks: this.#clocks,
      environment: (name) => this.#options.settings.environment(name),
      isSelf: ({ at }) => {
        const place = this.#options.ownAddress();
        return place !== null && isOwnAddress(at, place);
      },
    });
  }

  #remove(name: string): void {
    this.#all.delete(name);
    this.#announced.delete(name);
    this.#storeLists();
    this.#options.bus.emit('upstream', { name, health: 'removed', models: 0 });
  }

  #readCold(): void {
    if (this.#started) for (const upstream of this.#cold()) this.#reader.readInBackground(upstream);
  }

  #onListRead(upstream: Upstream): void {
    if (this.#calls.isRemoved(upstream)) return;
    this.#storeLists();
    this.#notifyChange(upstream);
  }

  #storeLists(): void {
    const lists = [...this.#all.values()].flatMap(({ config, listing }) =>
      listing.fetchedAt === null
        ? []
        : [[config.name, { from: config.at.text, at: listing.fetchedAt, models: listing.models }] as const],
    );
    storeLists(this.#options.store.keyValue, new Map(lists));
  }

  #notifyChange(upstream: Upstream): void {
    const { name } = upstream.config;
    const { health } = upstream;
    const models = upstream.models.length;
    const now = `${health} ${models}`;
    if (this.#announced.get(name) === now) return;
    const before = this.#announced.get(name)?.split(' ')[0];
    this.#announced.set(name, now);
    if (before !== undefined && before !== health) {
      const level = health === 'ok' ? 'info' : 'warn';
      this.#options.log[level](
        { upstream: name, health, before, reason: upstream.reason },
        'upstream health changed',
      );
    }
    this.#options.bus.emit('upstream', { name, health, models });
  }

  #logPause(upstream: Upstream, model: string, isPaused: boolean): void {
    const { name } = upstream.config;
    if (!isPaused) {
      this.#options.log.info(
        { upstream: name, model },
        'calls for a model of an upstream are permitted again',
      );
      return;
    }
    const reason = upstream.modelBreakers.get(model)?.cause;
    this.#options.log.warn({ upstream: name, model, reason }, 'calls for a model of an upstream are paused');
  }

  #connectMs({ config }: Upstream): number {
    return (config.connectTimeoutS ?? this.#options.settings.value('connectTimeoutS')) * 1000;
  }

  get #maxAgeMs(): number {
    return this.#options.settings.value('upstreamListAgeS') * 1000;
  }
}

export function createUpstreams(options: UpstreamsDeps): AllUpstreams {
  return new LiveUpstreams(options);
}
