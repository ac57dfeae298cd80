import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { ROOT } from '../../lib/fs/root.ts';
import { START_FLAG } from '../../lib/perf/v8-flags.ts';
import { until } from '../../lib/testing/until.ts';
import type { GgufModel } from '../../models/testing/gguf/writer.ts';
import { newHome, putModel } from './home.ts';

export { until };

/** The daemon as `npm start` runs it; the suites build it when a source has changed. */
export const DAEMON = join(ROOT, 'dist', 'daemon', 'main.js');

/** Keys of the suites; long enough to be redacted and to be searched for. */
export const ADMIN_KEY = 'test-admin-key-5f1d0a7c2b9e4836';
export const CLIENT_KEY = 'test-client-key-9c3e7b1f6a2d5048';

export interface GatewayOptions {
  env?: Record<string, string>;
  /** Files below the home folder, written before the start: `config/api.env`, `config/config.toml`, … */
  files?: Record<string, string>;
  /** Models to write into the model folder before the start, by id. */
  models?: Readonly<Record<string, GgufModel>>;
  /** An existing home folder: prepared, or of a stopped gateway. Default: a new one. */
  home?: string;
  args?: string[];
  /** Shell lines that mount folders in a mount namespace of the gateway's own; `$SVC_HOME` is its home folder. */
  mounts?: string;
  /** Descriptor of a listening socket, passed as by a service manager (socket activation). */
  listenFd?: number;
}

export interface Gateway {
  readonly url: string;
  readonly port: number;
  readonly home: string;
  readonly pid: number;
  /** Standard output and error, for tests that close them. */
  readonly pipes: readonly Readable[];
  /** Everything written so far: the banner, then JSON log lines. */
  output(): string;
  /** Waits until the output contains `text`. */
  waitFor(text: string, limitMs?: number): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Stops the daemon and returns its exit code. The home folder stays until `remove`. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Removes the home folder. */
  remove(): void;
}

/** The files of a gateway with both keys set. */
export const KEYS_FILE = { 'config/api.env': `SVC_ADMIN_KEY=${ADMIN_KEY}\nSVC_CLIENT_KEY=${CLIENT_KEY}\n` };

/** config.toml of a gateway that requires keys. */
export const REQUIRE_AUTH = '[security]\nrequire_auth = true\n';

/** config.toml with a login limit that no suite reaches. */
export const WIDE_LIMIT = '[security]\nlogin_ratelimit_max = 100000\n';

/** A slot file without autoload: suites that need no model save the CPU time of loading one. */
export const QUIET_FILE = { 'config/slots/agent.toml': 'autoload = false\n' };

/** A started process and its collected output. */
function launch(options: GatewayOptions): { child: ChildProcess; home: string; output: () => string } {
  const home = options.home ?? newHome();
  for (const [id, model] of Object.entries(options.models ?? {})) putModel(home, id, model);
  for (const [name, text] of Object.entries(options.files ?? {})) {
    mkdirSync(dirname(join(home, name)), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, name), text, { mode: 0o600 });
  }
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    SVC_HOME: home,
    SVC_PORT: '0',
    SVC_LOG_LEVEL: 'debug',
    // Other suites must not depend on whether this machine has espeak-ng.
    SVC_ESPEAK: 'off',
    ...options.env,
  };
  const program = [process.execPath, START_FLAG, DAEMON, ...(options.args ?? [])];
  const { listenFd } = options;
  // LISTEN_PID must be the id of the process itself: the shell sets it before `exec`.
  const activated = ['/bin/sh', '-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh', ...program];
  const [file = '', ...args] = listenFd === undefined ? program : activated;
  const namespace = process.getuid?.() === 0 ? '-m' : '-Urm';
  const mounted = [
    'unshare',
    namespace,
    '/bin/sh',
    '-ec',
    `${options.mounts}\nexec "$@"`,
    'sh',
    file,
    ...args,
  ];
  const [command = '', ...rest] = options.mounts === undefined ? [file, ...args] : mounted;
  const child = spawn(command, rest, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', ...(listenFd === undefined ? [] : [listenFd])],
  });
  let text = '';
  const collect = (chunk: Buffer) => {
    text += chunk.toString('utf8');
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  return { child, home, output: () => text };
}

/** Starts a real daemon on a free port with its own home folder and waits until it prints its address. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { child, home, output } = launch(options);
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const address = () => /Address\s+http:\/\/(\S+):(\d+)\/v1/.exec(output());
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}: ${output()}`);
      return address() !== null;
    },
    'the gateway to start',
    30_000,
  );
  const port = Number(address()?.[2]);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    home,
    pid: child.pid ?? 0,
    pipes: [child.stdout, child.stderr].filter((pipe) => pipe !== null),
    output,
    waitFor: (text, limitMs) => until(() => output().includes(text), `"${text}" in the output`, limitMs),
    signal: (name) => void child.kill(name),
    stop: (signal = 'SIGTERM') => {
      if (child.exitCode === null) child.kill(signal);
      return exited;
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Starts a gateway that has both keys and requires them, without autoload; `options` are added. */
export const startLocked = ({ env, files, ...options }: GatewayOptions = {}): Promise<Gateway> =>
  startGateway({
    ...options,
    env: { SVC_REQUIRE_AUTH: 'on', ...env },
    files: { ...KEYS_FILE, ...QUIET_FILE, ...files },
  });

/** Starts a daemon that must fail. Returns its exit code and output. The home folder stays. */
export async function refusedStart(
  options: GatewayOptions & { home: string },
): Promise<{ code: number | null; text: string }> {
  const { child, output } = launch(options);
  const limit = setTimeout(() => child.kill('SIGKILL'), 15_000);
  const [code] = await once(child, 'close');
  clearTimeout(limit);
  return { code, text: output() };
}
