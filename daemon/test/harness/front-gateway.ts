import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1ModelRecord } from '../../contract/models.ts';
import type { UpstreamRecord } from '../../contract/upstreams.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, QUIET_FILE, startGateway, until } from './gateway.ts';
import { newHome } from './home.ts';
import { type HttpResponse, type SendOptions, send } from './http.ts';
import { type StandIn, standIn } from './stand-in.ts';

export const CHAT = '/v1/chat/completions';
/** The API key for the provider that a stand-in represents. */
export const CLOUD_KEY = 'sk-cloud-7f2a9c4e1b8d';

/** Body of a short chat. */
export const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  max_tokens: 8,
  temperature: 0,
  ...more,
});

/** A real gateway that requires keys and has upstreams, with the stand-ins behind them. */
export class Front {
  readonly home: string;
  readonly #standIns: StandIn[] = [];
  #gateway: Gateway | null = null;

  constructor(home = newHome()) {
    this.home = home;
  }

  get gateway(): Gateway {
    if (!this.#gateway) throw new Error('the gateway is not started');
    return this.#gateway;
  }

  /** Starts the gateway. `more` is added to api.env, `env` to the environment of the process. */
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

  /** Sends a request with the admin key. */
  send(method: string, path: string, options: SendOptions = {}): Promise<HttpResponse> {
    return send(this.gateway, method, path, { key: ADMIN_KEY, ...options });
  }

  async upstream(name: string): Promise<UpstreamRecord> {
    return (await this.send('GET', `/api/upstreams/${name}`)).json<UpstreamRecord>();
  }

  async listModels(): Promise<V1ModelRecord[]> {
    return (await this.send('GET', '/v1/models')).json<{ data: V1ModelRecord[] }>().data;
  }

  /** Writes an upstream file, waits until the gateway has read it, and makes it fetch the model list. */
  async add(name: string, text: string): Promise<void> {
    writeFileSync(join(this.home, 'config', 'upstreams', `${name}.toml`), text);
    await until(
      async () => (await this.send('GET', `/api/upstreams/${name}`)).status === 200,
      `upstream ${name}`,
    );
    await this.send('POST', `/api/upstreams/${name}/test`);
  }

  async startStandIn(respond: Parameters<typeof standIn>[0]): Promise<StandIn> {
    const server = await standIn(respond);
    this.#standIns.push(server);
    return server;
  }

  async close(): Promise<void> {
    await Promise.all([this.#gateway?.stop(), ...this.#standIns.map((server) => server.stop())]);
    rmSync(this.home, { recursive: true, force: true });
  }
}
