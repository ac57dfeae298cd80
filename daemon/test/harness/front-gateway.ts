import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1ModelRecord } from '../../contract/models.ts';
import type { UpstreamRecord } from '../../contract/upstreams.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, QUIET_FILE, startGateway, until } from './gateway.ts';
import { newHome } from './home.ts';
import { type Answer, type Ask, ask } from './http.ts';
import { type StandIn, standIn } from './stand-in.ts';

export const CHAT = '/v1/chat/completions';
/** The key of the provider that stand-ins play. */
export const CLOUD_KEY = 'sk-cloud-7f2a9c4e1b8d';

/** A short chat with a model. */
export const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  max_tokens: 8,
  temperature: 0,
  ...more,
});

/** A real gateway that requires keys and has upstreams, and the servers that stand behind them. */
export class Front {
  readonly home: string;
  readonly #servers: StandIn[] = [];
  #gateway: Gateway | null = null;

  constructor(home = newHome()) {
    this.home = home;
  }

  get gateway(): Gateway {
    if (!this.#gateway) throw new Error('the gateway is not started');
    return this.#gateway;
  }

  /** `more` goes into api.env, `env` into the environment of the process. */
  async start(
    more: Record<string, string> = {},
    files: Record<string, string> = {},
    env: Record<string, string> = {},
  ): Promise<void> {
    const keys = { SVC_ADMIN_KEY: ADMIN_KEY, SVC_CLIENT_KEY: CLIENT_KEY, UPSTREAM_CLOUD: CLOUD_KEY, ...more };
    const lines = Object.entries(keys).map(([name, value]) => `${name}=${value}\n`);
    this.#gateway = await startGateway({
      home: this.home,
      env: { SVC_REQUIRE_AUTH: 'on', ...env },
      files: {
        ...QUIET_FILE,
        'config/api.env': lines.join(''),
        'config/upstreams/.keep': '',
        ...files,
      },
    });
  }

  /** Asks as the administrator. */
  at(method: string, path: string, options: Ask = {}): Promise<Answer> {
    return ask(this.gateway, method, path, { key: ADMIN_KEY, ...options });
  }

  async view(name: string): Promise<UpstreamRecord> {
    return (await this.at('GET', `/api/upstreams/${name}`)).json<UpstreamRecord>();
  }

  async listed(): Promise<V1ModelRecord[]> {
    return (await this.at('GET', '/v1/models')).json<{ data: V1ModelRecord[] }>().data;
  }

  /** Writes an upstream file, waits until the gateway has taken it up, and lets it ask for the models. */
  async add(name: string, text: string): Promise<void> {
    writeFileSync(join(this.home, 'config', 'upstreams', `${name}.toml`), text);
    await until(
      async () => (await this.at('GET', `/api/upstreams/${name}`)).status === 200,
      `upstream ${name}`,
    );
    await this.at('POST', `/api/upstreams/${name}/test`);
  }

  async server(how: Parameters<typeof standIn>[0]): Promise<StandIn> {
    const made = await standIn(how);
    this.#servers.push(made);
    return made;
  }

  async end(): Promise<void> {
    await Promise.all([this.#gateway?.stop(), ...this.#servers.map((each) => each.down())]);
    rmSync(this.home, { recursive: true, force: true });
  }
}
