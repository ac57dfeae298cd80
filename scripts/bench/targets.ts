import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { part } from '../../daemon/test/harness/test-tools.ts';
import { answers, has, type Machine } from './machine.ts';

/** A server under load: the model server itself, or a gateway or proxy in front of it. */
export interface Target {
  readonly name: string;
  readonly url: URL;
  readonly pid: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Resident memory in MB of an idle gateway before its first request. */
  readonly idleMb?: number;
  /** The folder of a gateway's files. */
  readonly home?: string;
  /** A model server that serves this target only. */
  readonly upstreamPid?: number;
  /** Starts the side load of a run. Returns a function that ends it. */
  readonly startSideLoad?: () => Promise<() => Promise<void>>;
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
