/** Gateways with and without enforcement, each for one test, and what their key file says. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { type Gateway, KEYS_FILE, startGateway } from './gateway.ts';
import { type Ask, ask } from './http.ts';

/** The limiter is no subject here. */
export const WIDE_LIMIT = '[security]\nlogin_ratelimit_max = 10000\n';

/** Starts gateways that end with the test, for one test file. */
export class AuthGateways {
  readonly #started: Gateway[] = [];

  constructor() {
    afterEach(async () => {
      for (const gateway of this.#started.splice(0)) {
        await gateway.stop();
        gateway.remove();
      }
    });
  }

  start = async (options: Parameters<typeof startGateway>[0] = {}): Promise<Gateway> => {
    const gateway = await startGateway(options);
    this.#started.push(gateway);
    return gateway;
  };

  /** One with both keys that requires them. */
  locked = (extra: Record<string, string> = {}): Promise<Gateway> =>
    this.start({
      files: { ...KEYS_FILE, 'config/config.toml': WIDE_LIMIT, ...extra },
      env: { SVC_REQUIRE_AUTH: 'on' },
    });
}

export const status = async (gateway: Gateway, options: Ask = {}) =>
  (await ask(gateway, 'GET', '/api/auth/status', options)).json();

export const envFile = (gateway: Gateway): string =>
  readFileSync(join(gateway.home, 'config/api.env'), 'utf8');

/** The value of a name in the key file; empty where it has none. */
export const keyIn = (gateway: Gateway, name: string): string =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(envFile(gateway))?.[1] ?? '';

export const fingerprint = (key: string): string =>
  createHash('sha256').update(key).digest('hex').slice(0, 8);
