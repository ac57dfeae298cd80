import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayEvents } from '../../contract/events.ts';
import { EventBus } from '../../lib/async/event-bus.ts';
import { createLog } from '../../lib/log.ts';
import { Outbound } from '../../lib/net/outbound.ts';
import { listenOnLoopback, portOf } from '../../lib/testing/listening.ts';
import { SETTINGS } from '../../settings/catalogue.ts';
import type { AllUpstreams, UpstreamState } from '../port.ts';
import type { OwnAddress } from '../self.ts';
import { createUpstreams, type UpstreamsDeps } from '../upstreams.ts';

/** A fake upstream server. */
export interface FakeUpstream {
  readonly url: string;
  /** Requested paths with their queries. */
  readonly requests: string[];
  readonly headers: Record<string, string | string[] | undefined>[];
  handler: RequestListener;
  close(): Promise<void>;
}

export const listOf =
  (...ids: string[]): RequestListener =>
  (_req, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) }));
  };

export const factsOf = (upstreams: Pick<AllUpstreams, 'list'>, name: string): UpstreamState | undefined =>
  upstreams.list().find((each) => each.name === name);

/** Ids of the models that an upstream lists. */
export const idsOf = (upstreams: Pick<AllUpstreams, 'list'>, name: string): string[] | undefined =>
  factsOf(upstreams, name)?.models.map(({ id }) => id);

/**
 * Upstreams over a folder, with default settings, clocks that a test moves, and servers that act as
 * upstreams.
 */
export class UpstreamsBench {
  readonly root = mkdtempSync(join(tmpdir(), 'upstreams-'));
  readonly folders = { config: join(this.root, 'config'), state: join(this.root, 'state') };
  readonly facts = new Map<string, string>();
  readonly bus = new EventBus<GatewayEvents>();
  readonly logged: string[] = [];
  readonly outbound = new Outbound({ connectMs: () => 2_000 });
  readonly clock = { wall: Date.UTC(2026, 5, 1, 12), steady: 1_000 };
  environment: Record<string, string> = {};
  ownAddress: OwnAddress | null = null;
  readonly #servers: Server[] = [];
  readonly #opened: AllUpstreams[] = [];

  constructor() {
    mkdirSync(join(this.folders.config, 'upstreams'), { recursive: true });
  }

  file(name: string, text: string): void {
    writeFileSync(join(this.folders.config, 'upstreams', `${name}.toml`), text);
  }

  /** Upstreams with one named `desk`, served by `fakeUpstream`. */
  desk(fakeUpstream: FakeUpstream, more = ''): AllUpstreams {
    this.file('desk', `base_url = "${fakeUpstream.url}"\n${more}`);
    return this.open();
  }

  wait(ms: number): void {
    this.clock.wall += ms;
    this.clock.steady += ms;
  }

  async fakeUpstream(handler: RequestListener): Promise<FakeUpstream> {
    const fakeUpstream: Omit<FakeUpstream, 'url' | 'close'> = { requests: [], headers: [], handler };
    const server = createServer((req, res) => {
      fakeUpstream.requests.push(req.url ?? '');
      fakeUpstream.headers.push(req.headers);
      fakeUpstream.handler(req, res);
    });
    this.#servers.push(server);
    await listenOnLoopback(server);
    const close = () => closed(server);
    return Object.assign(fakeUpstream, {
      url: `http://127.0.0.1:${portOf(server)}`,
      close,
    });
  }

  open(over: Partial<UpstreamsDeps> = {}): AllUpstreams {
    const value = (name: keyof typeof SETTINGS) => SETTINGS[name].default;
    const upstreams = createUpstreams({
      settings: {
        folders: this.folders,
        value: value as UpstreamsDeps['settings']['value'],
        environment: (name) => this.environment[name],
      },
      store: {
        keyValue: {
          get: (key) => this.facts.get(key) ?? null,
          set: (key, text) => void this.facts.set(key, text),
        },
      },
      bus: this.bus,
      log: createLog({ level: 'debug', write: (line) => this.logged.push(line) }),
      outbound: this.outbound,
      ownAddress: () => this.ownAddress,
      clocks: { wall: () => this.clock.wall, monotonic: () => this.clock.steady },
      ...over,
    });
    this.#opened.push(upstreams);
    return upstreams;
  }

  async remove(): Promise<void> {
    for (const upstreams of this.#opened) upstreams.close();
    await this.outbound.close();
    await Promise.all(this.#servers.map(closed));
    rmSync(this.root, { recursive: true, force: true });
  }
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}
