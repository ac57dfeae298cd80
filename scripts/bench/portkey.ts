import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { answers, type Machine } from './machine.ts';
import { type Target, target } from './targets.ts';

/** A gateway of others that stands on `fetch`. No dependency of ours: it is fetched by whoever runs the bench. */
const PACKAGE = '@portkey-ai/gateway@1.15.2';
/** The line of Node that its image comes with (`FROM node:20-alpine`); on ours it needs half the CPU. */
const RUNTIME = `node-linux-${process.arch}`;
const RUNTIME_VERSION = '20.20.2';
const folder = join(import.meta.dirname, '..', '..', '.cache', 'portkey');
const modules = join(folder, 'node_modules');
const program = join(modules, '@portkey-ai', 'gateway', 'build', 'start-server.js');
const itsNode = join(modules, RUNTIME, 'bin', 'node');
const FETCH_LIMIT_MS = 120_000;

/** Whether it is there with its Node; it is fetched, without running a script of it, when it is not. */
function fetched(): boolean {
  const there = () => existsSync(program) && existsSync(itsNode);
  if (there()) return true;
  console.log(`fetching ${PACKAGE} and a Node ${RUNTIME_VERSION} for it into .cache/portkey …`);
  const where = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const what = [PACKAGE, `${RUNTIME}@${RUNTIME_VERSION}`];
  const run = spawnSync('npm', [...where, '--omit=dev', '--omit=optional', ...what], {
    encoding: 'utf8',
    timeout: FETCH_LIMIT_MS,
  });
  if (run.status === 0 && there()) return true;
  const why = run.error?.message ?? run.stderr.split('\n').find((line) => line.trim() !== '');
  console.log(`SKIPPED, ${PACKAGE} can't be had (${why ?? `npm ended with ${run.status}`})`);
  return false;
}

/** Who runs Portkey's gateway: the Node that it ships with (`portkey`), or the one that runs ours. */
const RUNTIMES = { portkey: itsNode, 'portkey-24': process.execPath } as const;
export type PortkeyName = keyof typeof RUNTIMES;

/** Portkey's gateway before the mock; null when it can't be had. */
export async function startPortkey(
  machine: Machine,
  direct: Target,
  name: PortkeyName,
): Promise<Target | null> {
  if (!fetched()) return null;
  const port = await freePort();
  const fix = join(import.meta.dirname, 'portkey-fix.mjs');
  const command = [RUNTIMES[name], '--import', fix, program, `--port=${port}`, '--headless'];
  const pid = machine.start('gateway', command, { PORT: String(port), NODE_ENV: 'production' });
  await answers(`http://127.0.0.1:${port}/`);
  return target(name, port, pid, {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${direct.url.origin}/v1`,
  });
}
