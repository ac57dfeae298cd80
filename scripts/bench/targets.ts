import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { part } from '../../daemon/test/harness/test-tools.ts';
import { answers, has, type Machine } from './machine.ts';

/** Something that answers chats: the model server itself, or what stands before it. */
export interface Target {
  readonly name: string;
  readonly url: URL;
  readonly pid: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Resident memory in MB of a gateway at rest, before anybody had asked anything. */
  readonly idleMb?: number;
  /** The folder of a gateway's files. */
  readonly home?: string;
  /** A model server that serves this target only. */
  readonly upstreamPid?: number;
  /** What goes on beside each run; answers its end. */
  readonly startSideLoad?: () => Promise<() => Promise<void>>;
}

export const target = (name: string, port: number, pid: number, headers: Target['headers'] = {}): Target => ({
  name,
  url: new URL(`http://127.0.0.1:${port}`),
  pid,
  headers,
});

/** The mock model server, in C when there is a compiler. */
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

/** nginx of the machine, else the one that was unpacked for the suites; null when there is neither, which is told. */
const nginxProgram = (): string | null => (has('nginx') ? 'nginx' : part('nginx'));

/** nginx as a keep-alive reverse proxy with one worker: the practical limit. Null when it is not installed. */
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
