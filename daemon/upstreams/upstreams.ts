import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { UpstreamRecord } from '../contract/upstreams.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import type { Outbound } from '../lib/net/outbound.ts';
import type { Problem } from '../settings/problem.ts';
import { revisionOf } from '../settings/revision.ts';
import type { Settings } from '../settings/settings.ts';
import type { Store } from '../store/store.ts';
import { DailyCounts } from './daily-quota.ts';
import { Looks } from './health-poller.ts';
import { ListReader } from './list-reader.ts';
import { type ListClocks, Listing } from './listing.ts';
import type { AllUpstreams, CallOptions, UpstreamCall, UpstreamFacts } from './port.ts';
import type { ListOutcome } from './read-list.ts';
import { leadsToSelf, type OwnPlace } from './self.ts';
import { keepLists, readKeptLists } from './stored-lists.ts';
import { Upstream } from './upstream.ts';
import { UpstreamCalls } from './upstream-calls.ts';
import type { UpstreamConfig } from './upstream-file.ts';
import { readUpstreamFolder } from './upstream-folder.ts';
import { upstreamDetail, upstreamView } from './views.ts';

export interface UpstreamsOptions {
  readonly settings: Pick<Settings, 'folders' | 'environment' | 'value'>;
  readonly store: { readonly keyValue: Store['keyValue'] };
  readonly bus: Pick<EventBus<GatewayEvents>, 'emit'>;
  readonly log: Log;
  readonly outbound: Pick<Outbound, 'dispatch'>;
  /** Where this gateway listens; null until it does. */
  ownPlace(): OwnPlace | null;
  readonly clocks?: ListClocks;
  /** How often upstreams are looked at that nobody calls, for tests. */
  readonly lookEveryMs?: number;
}

const CLOCKS: ListClocks = { wall: () => Date.now(), steady: () => performance.now() };
class LiveUpstreams implements AllUpstreams {
  readonly instance = randomBytes(8).toString('hex');
  readonly #options: UpstreamsOptions;
  readonly #clocks: ListClocks;
  readonly #all = new Map<string, Upstream>();
  readonly #daily: DailyCounts;
  readonly #reader: ListReader;
  readonly #calls: UpstreamCalls;
  readonly #looks: Looks;
  readonly #shown = new Map<string, string>();
  #revisions: ReadonlyMap<string, string> = new Map();
  #problems: readonly Problem[] = [];
  #started = false;

  constructor(options: UpstreamsOptions) {
    this.#options = options;
    this.#clocks = options.clocks ?? CLOCKS;
    this.#daily = new DailyCounts(options.store.keyValue, this.#clocks.wall);
    this.#reader = new ListReader({
      outbound: options.outbound,
      instance: this.instance,
      connectMs: (upstream) => this.#connectMs(upstream),
      read: (upstream) => this.#listRead(upstream),
    });
    this.#calls = new UpstreamCalls({
      instance: this.instance,
      all: this.#all,
      daily: this.#daily,
      readSoon: (upstream) => this.#reader.readSoon(upstream),
      maxAgeMs: () => this.#maxAgeMs,
      announce: (upstream) => this.#announce(upstream),
    });
    this.#looks = new Looks({
      upstreams: () => [...this.#all.values()],
      look: (upstream) => this.#reader.readSoon(upstream),
      maxAgeMs: () => this.#maxAgeMs,
      steady: () => this.#clocks.steady(),
      everyMs: options.lookEveryMs,
    });
    this.reload();
  }

  list(): readonly UpstreamFacts[] {
    const facts: UpstreamFacts[] = [];
    for (const upstream of this.#all.values()) if (upstream.config.enabled) facts.push(this.#facts(upstream));
    return facts;
  }

  #facts(upstream: Upstream): UpstreamFacts {
    const { name, remote, priority, localFirst } = upstream.config;
    const { health } = upstream;
    return {
      name,
      remote,
      healthy: (health === 'ok' || health === 'unknown') && !this.#calls.spent(upstream),
      guarded: remote && localFirst,
      priority,
      cold: upstream.cold(this.#maxAgeMs),
      models: upstream.models,
    };
  }

  connect(name: string, options?: CallOptions): UpstreamCall {
    return this.#calls.connect(name, options);
  }

  refusal(name: string): GatewayError | null {
    return this.#calls.refusal(name);
  }

  refreshCold(signal: AbortSignal): Promise<void> {
    return this.#reader.readAll(this.#cold(), signal);
  }

  #cold(): Upstream[] {
    return [...this.#all.values()].filter(
      (upstream) => upstream.config.enabled && upstream.cold(this.#maxAgeMs),
    );
  }

  views(): UpstreamRecord[] {
    return [...this.#all.values()].map(upstreamView);
  }

  detail(name: string): UpstreamRecord | undefined {
    const upstream = this.#all.get(name);
    if (!upstream) return undefined;
    const retryAt = upstream.breaker.open ? this.#clocks.wall() + Math.ceil(upstream.breaker.waitMs) : null;
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
    if (!upstream) throw new GatewayError('upstream.not_found');
    return this.#reader.read(upstream, signal);
  }

  reload(): void {
    const folder = readUpstreamFolder(join(this.#options.settings.folders.config, 'upstreams'));
    if ('problem' in folder) {
      this.#problems = [folder.problem];
      return;
    }
    this.#problems = folder.problems;
    this.#revisions = folder.revisions;
    for (const problem of folder.problems) this.#options.log.warn({ ...problem }, 'upstream file');
    const wanted = new Set(folder.configs.map(({ name }) => name));
    for (const name of this.#all.keys()) {
      if (!wanted.has(name) && !folder.broken.has(name)) this.#remove(name);
    }
    for (const config of folder.configs) this.#take(config);
    for (const upstream of this.#all.values()) upstream.lookAtKey();
    this.#readCold();
    if (this.#started) this.#looks.tend();
  }

  start(): void {
    this.#started = true;
    this.#looks.tend();
    for (const upstream of this.#all.values()) if (upstream.config.enabled) this.#reader.readSoon(upstream);
  }

  close(): void {
    this.#started = false;
    this.#looks.stop();
    this.#reader.close();
  }

  #take(config: UpstreamConfig): void {
    const known = this.#all.get(config.name);
    if (known !== undefined && JSON.stringify(known.config) === JSON.stringify(config)) return;
    if (known !== undefined && known.config.at.text === config.at.text) known.configure(config);
    else this.#all.set(config.name, this.#create(config));
    const upstream = this.#all.get(config.name) as Upstream;
    this.#announce(upstream);
  }

  #create(config: UpstreamConfig): Upstream {
    const kept = readKeptLists(this.#options.store.keyValue).get(config.name);
    const listing = new Listing(this.#clocks, kept?.from === config.at.text ? kept : undefined);
    return new Upstream(config, listing, {
      clocks: this.#clocks,
      environment: (name) => this.#options.settings.environment(name),
      isSelf: ({ at }) => {
        const place = this.#options.ownPlace();
        return place !== null && leadsToSelf(at, place);
      },
    });
  }

  #remove(name: string): void {
    this.#all.delete(name);
    this.#shown.delete(name);
    this.#keep();
    this.#options.bus.emit('upstream', { name, health: 'removed', models: 0 });
  }

  #readCold(): void {
    if (this.#started) for (const upstream of this.#cold()) this.#reader.readSoon(upstream);
  }

  #listRead(upstream: Upstream): void {
    if (this.#calls.isGone(upstream)) return;
    this.#keep();
    this.#announce(upstream);
  }

  #keep(): void {
    const lists = [...this.#all.values()].flatMap(({ config, listing }) =>
      listing.at === null
        ? []
        : [[config.name, { from: config.at.text, at: listing.at, models: listing.models }] as const],
    );
    keepLists(this.#options.store.keyValue, new Map(lists));
  }

  #announce(upstream: Upstream): void {
    const { name } = upstream.config;
    const { health } = upstream;
    const models = upstream.models.length;
    const now = `${health} ${models}`;
    if (this.#shown.get(name) === now) return;
    const before = this.#shown.get(name)?.split(' ')[0];
    this.#shown.set(name, now);
    if (before !== undefined && before !== health) {
      const level = health === 'ok' ? 'info' : 'warn';
      this.#options.log[level]({ upstream: name, health, before, reason: upstream.reason }, 'upstream');
    }
    this.#options.bus.emit('upstream', { name, health, models });
  }

  #connectMs({ config }: Upstream): number {
    return (config.connectTimeoutS ?? this.#options.settings.value('connectTimeoutS')) * 1000;
  }

  get #maxAgeMs(): number {
    return this.#options.settings.value('upstreamListAgeS') * 1000;
  }
}

export function createUpstreams(options: UpstreamsOptions): AllUpstreams {
  return new LiveUpstreams(options);
}
