import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { answers, type Machine } from './machine.ts';
import { type Target, target } from './targets.ts';

/** A gateway of others that stands on `fetch`. No dependency of ours: it is fetched by whoever runs the bench. */
const PACKAGE = '@portkey-ai/gateway@1.15.2';
const folder = join(import.meta.dirname, '..', '..', '.cache', 'portkey');
const program = join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
const FETCH_LIMIT_MS = 120_000;

/** Its program, fetched when it is not there yet and without running a script of it; null when it can't be had. */
function portkeyProgram(): string | null {
  if (existsSync(program)) return program;
  console.log(`fetching ${PACKAGE} into .cache/portkey …`);
  const where = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const run = spawnSync('npm', [...where, '--omit=dev', '--omit=optional', PACKAGE], {
    encoding: 'utf8',
    timeout: FETCH_LIMIT_MS,
  });
  if (run.status === 0 && existsSync(program)) return program;
  const why = run.error?.message ?? run.stderr.split('\n').find((line) => line.trim() !== '');
  console.log(`SKIPPED, ${PACKAGE} can't be had (${why ?? `npm ended with ${run.status}`})`);
  return null;
}

/** Portkey's gateway before the mock; null when it can't be had. */
export async function startPortkey(machine: Machine, direct: Target): Promise<Target | null> {
  const found = portkeyProgram();
  if (found === null) return null;
  const port = await freePort();
  const fix = join(import.meta.dirname, 'portkey-fix.mjs');
  const command = [process.execPath, '--import', fix, found, `--port=${port}`, '--headless'];
  const pid = machine.start('gateway', command, { PORT: String(port), NODE_ENV: 'production' });
  await answers(`http://127.0.0.1:${port}/`);
  return target('portkey', port, pid, {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${direct.url.origin}/v1`,
  });
}
