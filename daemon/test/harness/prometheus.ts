import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../slots/runners/ports.ts';
import { until } from './gateway.ts';
import { send } from './http.ts';
import { SHIPPED } from './shipped-files.ts';

export interface Sample {
  readonly metric: Record<string, string>;
  readonly value: [at: number, value: string];
}

export interface Prometheus {
  /** Returns the result of an instant query. Throws the error of Prometheus for an invalid one. */
  query(expr: string): Promise<Sample[]>;
  /** Returns the rules as loaded by Prometheus. */
  rules(): Promise<{ name: string; query: string; health: string; lastError?: string }[]>;
  stop(): Promise<void>;
}

/** Starts a real Prometheus with the shipped configuration that scrapes one gateway four times a second. */
export async function startPrometheus(program: string, gatewayPort: number): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
  const config = readFileSync(join(SHIPPED, 'scrape.yml'), 'utf8')
    .replace('127.0.0.1:8080', `127.0.0.1:${gatewayPort}`)
    .replace('- alerts.yml', `- ${join(SHIPPED, 'alerts.yml')}`)
    .replaceAll(/(scrape_interval|evaluation_interval|scrape_timeout): \d+s/g, '$1: 250ms');
  writeFileSync(join(folder, 'prometheus.yml'), config);
  const port = await freePort();
  const child = spawn(
    program,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', GOMAXPROCS: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8').slice(0, 10_000);
  });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  const get = async (path: string) => {
    const response = await send({ port }, 'GET', path);
    const { status, error, data } = response.json<{ status: string; error?: string; data: unknown }>();
    if (status !== 'success') throw new Error(`${error}: ${decodeURIComponent(path)}`);
    return data;
  };
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`Prometheus ended: ${stderr}`);
      const response = await send({ port }, 'GET', '/-/ready').catch(() => null);
      return response?.status === 200;
    },
    'Prometheus to be ready',
    30_000,
  );
  return {
    async query(expr) {
      const path = `/api/v1/query?query=${encodeURIComponent(expr)}`;
      const data = (await get(path)) as { resultType: string; result: Sample[] };
      return data.result;
    },
    async rules() {
      const data = (await get('/api/v1/rules')) as { groups: { rules: never[] }[] };
      return data.groups.flatMap(({ rules }) => rules);
    },
    async stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs promtool of the same installation in the folder of the shipped files and returns its output. */
export async function promtool(program: string, ...args: string[]): Promise<string> {
  const tool = join(dirname(program), 'promtool');
  const { stdout, stderr } = await promisify(execFile)(tool, args, { cwd: SHIPPED, timeout: 30_000 });
  return `${stdout}${stderr}`;
}
