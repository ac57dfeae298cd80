import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { wildcardFamily } from '../lib/net/addresses.ts';
import { parseEnvFile } from '../settings/env-file.ts';
import { configuredAddress } from '../settings/own-address.ts';
import type { ListenAddress } from '../settings/running-address.ts';

const KEY_NAMES = ['SVC_ADMIN_KEY', 'SVC_CLIENT_KEY'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration folder of an installed service. */
const SYSTEM_FOLDER = '/etc/svc';
/** The state folder of an installed service. */
const SYSTEM_STATE = '/var/lib/svc';

/**
 * Returns the configuration folder that svcctl uses: `$SVC_HOME/config`, the user's own, else that of the
 * service.
 */
export function configFolder(env: Environment, exists: (path: string) => boolean = existsSync): string {
  if (env.SVC_HOME) return join(env.SVC_HOME, 'config');
  const own = join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'svc');
  if (exists(join(own, 'api.env')) || exists(join(own, 'config.toml'))) return own;
  return exists(SYSTEM_FOLDER) ? SYSTEM_FOLDER : own;
}

/**
 * Returns the environment with which a sub-command of the daemon binary uses the folders of the installed
 * service, as systemd would set it. Returns an empty record when the user has their own folders or the environment names some.
 */
export function serviceFolders(
  env: Environment,
  exists: (path: string) => boolean = existsSync,
): Record<string, string> {
  if (env.CONFIGURATION_DIRECTORY || configFolder(env, exists) !== SYSTEM_FOLDER) return {};
  return { CONFIGURATION_DIRECTORY: SYSTEM_FOLDER, STATE_DIRECTORY: SYSTEM_STATE };
}

/** Returns the state folder that belongs to the configuration folder. The gateway runs as its owner. */
export function stateFolder(env: Environment, exists: (path: string) => boolean = existsSync): string {
  if (env.SVC_HOME) return join(env.SVC_HOME, 'state');
  if (configFolder(env, exists) === SYSTEM_FOLDER) return SYSTEM_STATE;
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state'), 'svc');
}

/**
 * Returns the environment for reading the settings. For an installed service, and when a gateway is named,
 * the keys in it are credentials of svcctl; the gateway does not have them.
 */
export function settingsEnvironment(
  env: Environment,
  namedUrl: string | null,
  exists: (path: string) => boolean = existsSync,
): Environment {
  const ofAnother = namedUrl !== null || Object.keys(serviceFolders(env, exists)).length > 0;
  if (!ofAnother) return env;
  return { ...env, ...Object.fromEntries(KEY_NAMES.map((name) => [name, undefined])) };
}

export interface EnvFile {
  path: string;
  values: ReadonlyMap<string, string>;
  /** The file exists but this user cannot read it. */
  unreadable: boolean;
}

/** api.env of a configuration folder; a missing one is empty. */
export function readEnvFile(folder: string): EnvFile {
  const path = join(folder, 'api.env');
  try {
    return { path, values: parseEnvFile(readFileSync(path)), unreadable: false };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { path, values: new Map(), unreadable: code === 'EACCES' || code === 'EPERM' };
  }
}

/** Sources of the address that the environment and `--url` do not give. */
export interface LocalGateway {
  /** The address of the running gateway; null when it is not known. */
  readonly running: ListenAddress | null;
  readonly file: EnvFile;
  /** The configuration folder. */
  readonly folder: string;
}

/** Returns true if the environment has the bind host or the port. */
const isNamed = (env: Environment): boolean => Boolean(env.SVC_PORT?.trim() || env.SVC_BIND_HOST?.trim());

/**
 * Returns the gateway's address: `--url`, SVC_URL, bind host and port of the environment, those of the running
 * gateway, else those of api.env, config.toml and the defaults.
 */
export function gatewayUrl(
  flag: string | undefined,
  env: Environment,
  { running, file, folder }: LocalGateway,
): string {
  const address = flag ?? env.SVC_URL;
  if (address) return address.replace(/\/+$/, '');
  if (running !== null && !isNamed(env)) return `http://${localHostFor(running.host)}:${running.port}`;
  const { host, port } = configuredAddress({
    env,
    apiEnv: file.values,
    config: folder,
    folderEnv: { ...env, ...serviceFolders(env) },
  });
  return `http://${localHostFor(host)}:${port}`;
}

/** Returns the address under which this machine reaches a listener. */
function localHostFor(bindHost: string): string {
  const every = wildcardFamily(bindHost);
  if (every !== null) return every === 'IPv6' ? '[::1]' : '127.0.0.1';
  return bindHost.includes(':') ? `[${bindHost}]` : bindHost;
}

/** A key and where it was found, for messages. */
export interface Credential {
  key: string;
  from: string;
}

/**
 * Returns the key to send (docs/spec/specification.md#command-line-credentials): SVC_ADMIN_KEY,
 * SVC_CLIENT_KEY, then api.env (admin, then client). The keys of api.env belong to the gateway of this
 * machine. They are not sent to another host, or to another program on the gateway's port.
 */
export function credential(
  env: Environment,
  file: EnvFile,
  untrustedHost: string | null = null,
): Credential | null {
  const candidates = [
    ...KEY_NAMES.map((name) => ({ key: env[name]?.trim(), from: `the environment variable ${name}` })),
    ...KEY_NAMES.map((name) => ({ key: file.values.get(name)?.trim(), from: `${name} in ${file.path}` })),
  ].slice(0, untrustedHost === null ? undefined : KEY_NAMES.length);
  return candidates.find((each): each is Credential => Boolean(each.key)) ?? null;
}

/** Returns a line that explains why no key is sent although there may be one, or null. */
export function keyAdvice(
  file: EnvFile,
  sent: Credential | null,
  untrustedHost: string | null,
): string | null {
  if (sent !== null) return null;
  if (untrustedHost !== null && credential({}, file) !== null)
    return `no key is sent to ${untrustedHost}: ${file.path} belongs to this machine's gateway; set SVC_ADMIN_KEY or SVC_CLIENT_KEY.`;
  if (untrustedHost === null && file.unreadable)
    return `${file.path} is not readable; use sudo, or set SVC_ADMIN_KEY.`;
  return null;
}
