import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { part } from '../../daemon/test/harness/test-tools.ts';
import { LANES, ROOT, VECTORS } from './gateway-files.ts';
import { answers, has, type Machine, until200 } from './machine.ts';

/** A server under load: the model server itself, or a gateway or proxy in front of it. */
export interface Target {
  readonly name: string;
  readonly url: URL;
  readonly pid: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Resident memory in MB of an idle gateway before its first request. */
  readonly idleMb?: number;
  /** A model server that serves this target only. */
  readonly upstreamPid?: number;
}

export const target = (name: string, port: number, pid: number, headers: Target['headers'] = {}): Target => ({
  name,
  url: new URL(`http://127.0.0.1:${port}`),
  pid,
  headers,
});

/** Starts the mock model server: the C program when there is a compiler. */
export async function startDirect(machine: Machine): Promise<Target> {
  const port = await freePort();
  const pid = machine.start('load', [...mockCommand(machine), String(port)]);
  await answers(`http://127.0.0.1:${port}/stats`);
  return target('direct', port, pid);
}

function mockCommand(machine: Machine): string[] {
  const program = join(machine.folder, 'mock');
  const source = join(import.meta.dirname, 'mock.c');
  if (existsSync(program)) return [program];
  if (has('cc') && spawnSync('cc', ['-O2', '-o', program, source]).status === 0) return [program];
  console.log('no C compiler: the model server is mock.ts and may itself be the limit');
  return [process.execPath, join(import.meta.dirname, 'mock.ts')];
}

/** nginx of the machine, else the unpacked one of the test tools; null when there is neither. */
const nginxProgram = (): string | null => (has('nginx') ? 'nginx' : part('nginx'));

/** Starts nginx as a keep-alive reverse proxy with one worker, the practical optimum. Returns null without nginx. */
export async function startNginx(machine: Machine, direct: Target): Promise<Target | null> {
  const program = nginxProgram();
  if (program === null) return null;
  const port = await freePort();
  const { folder } = machine;
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'nginx.conf'), nginxConf(folder, port, direct.url.host));
  const pid = machine.start('gateway', [program, '-e', `${folder}/nginx.err`, '-c', `${folder}/nginx.conf`]);
  await answers(`http://127.0.0.1:${port}/stats`);
  return target('nginx', port, pid);
}

function nginxConf(folder: string, port: number, upstream: string): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `worker_processes 1; pid ${folder}/nginx.pid; daemon off; events { worker_connections 8192; }
http {
  access_log off; client_max_body_size 0; keepalive_requests 100000000; tcp_nodelay on; ${temp.join(' ')}
  upstream mock { server ${upstream}; keepalive 1024; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_request_buffering off;
    }
  }
}`;
}

/** The peer that goals name. The bench builds it where Go is present. */
const LLAMA_SWAP = 'github.com/mostlygeek/llama-swap@v0.0.0-20260822162957-0bdb3720199f';
const BUILD_LIMIT_MS = 300_000;
/** Its default of 10 refuses most requests of a scenario. */
const CONCURRENCY = 4_096;

/** The program on the path, else one built into the cache; null with the reason on the console. */
function llamaSwapProgram(): string | null {
  if (has('llama-swap')) return 'llama-swap';
  const folder = join(ROOT, '.cache', 'llama-swap');
  const program = join(folder, 'llama-swap');
  if (existsSync(program)) return program;
  if (!has('go')) {
    console.log('SKIPPED llama-swap: neither it nor Go is installed');
    return null;
  }
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder };
  const build = spawnSync('go', ['install', LLAMA_SWAP], { env, encoding: 'utf8', timeout: BUILD_LIMIT_MS });
  if (build.status === 0) return program;
  console.log(`SKIPPED llama-swap: ${build.error?.message ?? build.stderr.trim().split('\n').at(-1)}`);
  return null;
}

/** Starts llama-swap in front of the model server. Returns null without the program. */
export async function startLlamaSwap(machine: Machine, direct: Target): Promise<Target | null> {
  const program = llamaSwapProgram();
  if (program === null) return null;
  const port = await freePort();
  const config = join(machine.folder, 'llama-swap.yaml');
  const model = {
    cmd: 'sleep infinity',
    proxy: direct.url.origin,
    checkEndpoint: 'none',
    concurrencyLimit: CONCURRENCY,
    aliases: [...LANES.slice(1), VECTORS],
  };
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ logLevel: 'error', models: { agent: model } }));
  const pid = machine.start('gateway', [program, '--config', config, '--listen', `127.0.0.1:${port}`]);
  await until200(`http://127.0.0.1:${port}/health`);
  return target('llama-swap', port, pid);
}
