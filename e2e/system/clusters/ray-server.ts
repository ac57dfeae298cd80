import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../daemon/lib/testing/until.ts';
import { freePort } from '../../../daemon/slots/runners/ports.ts';
import { markedProcesses } from '../harness/marked-processes.ts';

const APP = join(import.meta.dirname, 'ray_app.py');
const START_LIMIT_MS = 270_000;
/** New replicas are Python processes that import Ray: on a busy machine their start takes minutes. */
export const DEPLOY_LIMIT_MS = 240_000;
const STOP_LIMIT_MS = 20_000;

/** The log of a replica. */
export interface ReplicaEvent {
  readonly event: 'start' | 'begin' | 'end' | 'cancel';
  readonly pid: number;
  readonly version: string;
  readonly request?: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Tokens generated before a cancellation. */
  readonly done?: number;
}

export interface Deployment {
  readonly version: string;
  readonly replicas: number;
  /** Concurrent requests of each replica. */
  readonly max_ongoing: number;
  /** Requests that wait for a replica; more are answered with 503. */
  readonly max_queued: number;
}

export interface RayServer {
  readonly url: string;
  readonly port: number;
  events(): ReplicaEvent[];
  /** Deploys and resolves when all replicas serve this version. */
  deploy(deployment: Deployment): Promise<void>;
  /** Ends Ray with all its processes and removes its files. Throws when a process had to be killed. */
  stop(): Promise<void>;
}

/**
 * Starts Ray Serve with `ray_app.py` and resolves when its replicas serve `first`. Uses loopback only. `at` is the port,
 * default a free one.
 */
export async function startRay(python: string, first: Deployment, at?: number): Promise<RayServer> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ray-'));
  const events = join(folder, 'events.jsonl');
  // Without this file in its home Ray asks the metadata addresses of cloud providers where it runs.
  writeFileSync(join(folder, 'ray_bootstrap_config.yaml'), '{}\n');
  const mark = `SVC_TEST_RAY=${folder}`;
  const port = at ?? (await freePort());
  const child = spawn(python, [APP, String(port), events, folder], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      SVC_TEST_RAY: folder,
      RAY_USAGE_STATS_ENABLED: '0',
      // A proxy that is not ready in time is killed. On a busy machine its start takes longer than the 5 s of the default.
      RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S: '90',
      RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S: '60',
      // Despite its name this decides on Linux too: '0' binds all of Ray's ports to the loopback address.
      RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER: '0',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-20_000);
    });
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  let deployed = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    deployed += chunk.toString('utf8').split('{"ready":').length - 1;
  });

  const deploy = async (deployment: Deployment, limitMs: number) => {
    const before = deployed;
    child.stdin.write(`${JSON.stringify(deployment)}\n`);
    await until(
      () => {
        if (hasEnded()) throw new Error(`Ray has ended with ${child.exitCode}: ${output}`);
        return deployed > before;
      },
      `version ${deployment.version} to be deployed`,
      limitMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${output.slice(-4_000)}`);
    });
  };

  const stop = async () => {
    child.stdin.end();
    const isStopped = () => hasEnded() && markedProcesses(mark).length === 0;
    try {
      await until(isStopped, 'Ray to end', STOP_LIMIT_MS);
    } finally {
      // Processes of Ray may be in other process groups.
      for (const pid of markedProcesses(mark)) process.kill(pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  };

  try {
    await deploy(first, START_LIMIT_MS);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    events: () =>
      existsSync(events)
        ? readFileSync(events, 'utf8')
            .split('\n')
            // What follows the last line break is empty or still being written.
            .slice(0, -1)
            .map((line) => JSON.parse(line) as ReplicaEvent)
        : [],
    deploy: (deployment) => deploy(deployment, DEPLOY_LIMIT_MS),
    stop,
  };
}
