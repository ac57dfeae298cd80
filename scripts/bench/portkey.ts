import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { answers, type Machine } from './machine.ts';
import { type Target, target } from './targets.ts';

/** A third-party gateway built on `fetch`. Not a dependency: the bench installs it at its first use. */
const PACKAGE = '@portkey-ai/gateway@1.15.2';
/** The Node version of its image (`FROM node:20-alpine`). On our version it needs half the CPU time. */
const RUNTIME = `node-linux-${process.arch}`;
const RUNTIME_VERSION = '20.20.2';
const folder = join(import.meta.dirname, '..', '..', '.cache', 'portkey');
const modules = join(folder, 'node_modules');
const program = join(modules, '@portkey-ai', 'gateway', 'build', 'start-server.js');
const itsNode = join(modules, RUNTIME, 'bin', 'node');
const FETCH_LIMIT_MS = 120_000;

/** Installs Portkey's gateway and its Node without running install scripts. Returns false when that fails. */
function install(): boolean {
  const isInstalled = () => existsSync(program) && existsSync(itsNode);
  if (isInstalled()) return true;
  console.log(`fetching ${PACKAGE} and a Node ${RUNTIME_VERSION} for it into .cache/portkey …`);
  const where = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const what = [PACKAGE, `${RUNTIME}@${RUNTIME_VERSION}`];
  const run = spawnSync('npm', [...where, '--omit=dev', '--omit=optional', ...what], {
    encoding: 'utf8',
    timeout: FETCH_LIMIT_MS,
  });
  if (run.status === 0 && isInstalled()) return true;
  const why = run.error?.message ?? run.stderr.split('\n').find((line) => line.trim() !== '');
  console.log(`SKIPPED, ${PACKAGE} could not be installed (${why ?? `npm ended with ${run.status}`})`);
  return false;
}

/** The Node that runs Portkey's gateway: the version of its image (`portkey`), or ours. */
const RUNTIMES = { portkey: itsNode, 'portkey-24': process.execPath } as const;
export type PortkeyName = keyof typeof RUNTIMES;

/** Starts Portkey's gateway in front of the mock. Returns null when it cannot be installed. */
export async function startPortkey(
  machine: Machine,
  direct: Target,
  name: PortkeyName,
): Promise<Target | null> {
  if (!install()) return null;
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
