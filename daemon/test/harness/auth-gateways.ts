/** Gateways with and without enforcement, each for one test, and readers of their key file. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Gateway,
  type GatewayOptions,
  KEYS_FILE,
  QUIET_FILE,
  startGateway,
  WIDE_LIMIT,
} from './gateway.ts';
import { type SendOptions, send } from './http.ts';
import { forTest } from './one-gateway.ts';

/** Starts a gateway for the test that calls it. It loads no model, which would double the CPU time of its start. */
export const start = ({ files, ...options }: GatewayOptions = {}): Promise<Gateway> =>
  forTest(startGateway({ ...options, files: { ...QUIET_FILE, ...files } }));

/** Starts a gateway that has both keys and requires them, for the test that calls it. */
export const locked = (files: Record<string, string> = {}): Promise<Gateway> =>
  start({
    files: { ...KEYS_FILE, 'config/config.toml': WIDE_LIMIT, ...files },
    env: { SVC_REQUIRE_AUTH: 'on' },
  });

export const status = async (gateway: Gateway, options: SendOptions = {}) =>
  (await send(gateway, 'GET', '/api/auth/status', options)).json();

/** Returns the tier of a caller. */
export const tierOf = async (gateway: Gateway, caller: SendOptions): Promise<unknown> =>
  (await status(gateway, caller)).tier;

export const envFile = (gateway: Pick<Gateway, 'home'>): string =>
  readFileSync(join(gateway.home, 'config/api.env'), 'utf8');

/** The value of a name in the key file; empty when it is absent. */
export const keyIn = (gateway: Pick<Gateway, 'home'>, name: string): string =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(envFile(gateway))?.[1] ?? '';

export const fingerprint = (key: string): string =>
  createHash('sha256').update(key).digest('hex').slice(0, 8);
