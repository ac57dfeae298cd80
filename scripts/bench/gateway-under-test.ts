import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { START_FLAG } from '../../daemon/lib/perf/v8-flags.ts';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { ATTACHED_EMBEDDER, LANES, ROOT, TRANSCRIBER, writeHome } from './gateway-files.ts';
import { answers, type Machine, until200 } from './machine.ts';
import { memoryMb } from './process-figures.ts';
import { type Target, target } from './targets.ts';

export const CLIENT_KEY = 'bench-client-key-0123456789abcdef';
export const ADMIN_KEY = 'bench-admin-key-0123456789abcdef';

/** Time for a garbage collection after SIGUSR2. */
const COLLECT_MS = 1_000;
const WANTED: ReadonlySet<string> = new Set([...LANES, 'embed', ATTACHED_EMBEDDER, TRANSCRIBER]);

function allReady(body: string): boolean {
  const { slots } = JSON.parse(body) as { slots: { name: string; state: string }[] };
  return slots.filter(({ name, state }) => WANTED.has(name) && state === 'ready').length === WANTED.size;
}

/** Resident memory in MB of an idle gateway after a garbage collection. */
async function idleMb(pid: number): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  await sleep(COLLECT_MS);
  return memoryMb(pid, 'VmRSS');
}

const BUILD_MS = 120_000;
const built = new Map<string, Promise<string>>();

/** Builds the gateway of a checkout in the same way as the daemon. Returns the path of the program. */
async function build(root: string): Promise<string> {
  const out = join(root, '.cache', 'bench');
  const program = join(root, 'scripts', 'bench', 'gateway.ts');
  const args = [join(root, 'scripts', 'build', 'main.ts'), out, `gateway=${program}`];
  await promisify(execFile)(process.execPath, args, { timeout: BUILD_MS, cwd: root });
  return join(out, 'gateway.js');
}

function builtOnce(root: string): Promise<string> {
  const running = built.get(root) ?? build(root);
  built.set(root, running);
  return running;
}

let started = 0;

/**
 * Starts the gateway in its usual configuration: client key, enforcement, metrics, request log. Only the engines are
 * replaced by the mock. `profile` is the file for a CPU profile that begins after the start; `root` is another checkout.
 */
export async function startGatewayUnderTest(
  machine: Machine,
  direct: Target,
  profile?: string,
  root = ROOT,
): Promise<Target> {
  const port = await freePort();
  const home = join(machine.folder, `home-${started++}`);
  writeHome(home, direct.url.origin);
  const gateway = await builtOnce(root);
  const program = [process.execPath, START_FLAG, '--expose-gc', gateway, direct.url.origin];
  const pid = machine.start('gateway', profile === undefined ? program : [...program, profile], {
    SVC_HOME: home,
    SVC_PORT: String(port),
    SVC_ADMIN_KEY: ADMIN_KEY,
    SVC_CLIENT_KEY: CLIENT_KEY,
    SVC_REQUIRE_AUTH: 'true',
    NODE_COMPILE_CACHE: join(root, '.cache', 'compile'),
  });
  const headers = { Authorization: `Bearer ${CLIENT_KEY}` };
  await answers(`http://127.0.0.1:${port}/api/health`);
  await until200(`http://127.0.0.1:${port}/api/slots`, headers, allReady);
  return { ...target('ours', port, pid, headers), idleMb: await idleMb(pid) };
}
