import { spawn, spawnSync } from 'node:child_process';
import { freePort } from '../../slots/runners/ports.ts';
import { until } from './gateway.ts';
import { send } from './http.ts';

export interface LlamaServer {
  readonly port: number;
  readonly pid: number;
  output(): string;
  stop(): Promise<void>;
}

/** Returns the version that the program prints, such as `0.7.0`. */
export function llamaServerVersion(program: string): string | undefined {
  const { stdout, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  return /version: (\S+)/.exec(`${stdout}${stderr}`)?.[1];
}

/** Starts a real llama-server on one thread and waits until its model is loaded; `extra` are further arguments. */
export async function startLlamaServer(
  program: string,
  model: { path: string; id: string; context: number; parallel: number },
  extra: readonly string[] = [],
): Promise<LlamaServer> {
  const port = await freePort();
  const window = [
    '-c',
    String(model.context * model.parallel),
    '-np',
    String(model.parallel),
    '--no-kv-unified',
  ];
  const listen = ['--host', '127.0.0.1', '--port', String(port), '--no-ui', '-t', '1', '-tb', '1'];
  const args = ['-m', model.path, '-a', model.id, ...window, ...listen, ...extra];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH } });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text = `${text}${chunk.toString('utf8')}`.slice(-20_000);
    });
  }
  await until(
    async () => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(
          `llama-server ended with ${child.exitCode ?? child.signalCode}: ${text.slice(0, 2_000)}`,
        );
      const health = await send({ port }, 'GET', '/health').catch(() => null);
      return health?.status === 200;
    },
    'llama-server to be ready',
    30_000,
  );
  return {
    port,
    pid: child.pid ?? 0,
    output: () => text,
    stop: () => {
      child.kill('SIGKILL');
      return exited;
    },
  };
}
