import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { START_FLAG } from '../../daemon/lib/perf/v8-flags.ts';
import { tinyEmbed } from '../../daemon/models/testing/gguf/tiny-embed.ts';
import { encodeGguf } from '../../daemon/models/testing/gguf/writer.ts';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { answers, type Machine, until200 } from './machine.ts';
import { memoryMb } from './process-figures.ts';
import { type Target, target } from './targets.ts';

/** Chat slots of the gateway under test. Each serves 64 concurrent requests, the maximum of a slot file. */
export const LANES: readonly string[] = [
  'agent',
  ...Array.from({ length: 15 }, (_, index) => `lane-${index + 1}`),
];
const PER_LANE = 64;
/** The embedding model, and the slots that the gateway attaches to: a speech-to-text engine, and an embedding engine. */
export const VECTORS = 'bench-vectors';
export const TRANSCRIBER = 'stt';
const ATTACHED_EMBEDDER = 'attached-embed';
export const ATTACHED_VECTORS = 'attached-vectors';

export const CLIENT_KEY = 'bench-client-key-0123456789abcdef';
export const ADMIN_KEY = 'bench-admin-key-0123456789abcdef';

/** Time for a garbage collection after SIGUSR2. */
const COLLECT_MS = 1_000;
const PARALLEL = `parallel = ${PER_LANE}\n`;

/** The slot files of the gateway under test, by slot. */
function slotFiles(upstream: string): Record<string, string> {
  const lane = (name: string): string =>
    `${PARALLEL}context = 512\n${name === 'agent' ? '' : 'model = "svc-demo"\nautoload = true\n'}`;
  const attached = `engine = "custom"\nrunner = "attach"\nurl = "${upstream}"\nautoload = true\n${PARALLEL}`;
  return {
    ...Object.fromEntries(LANES.map((name) => [name, lane(name)])),
    embed: `type = "embedding"\nmodel = "${VECTORS}"\nautoload = true\n${PARALLEL}`,
    [ATTACHED_EMBEDDER]: `type = "embedding"\nmodel = "${ATTACHED_VECTORS}"\n${attached}`,
    [TRANSCRIBER]: `type = "stt"\n${attached}`,
  };
}

function plantHome(home: string, upstream: string): void {
  const [slots, models] = [join(home, 'config', 'slots'), join(home, 'state', 'models')];
  for (const folder of [slots, models]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(models, `${VECTORS}.gguf`), encodeGguf(tinyEmbed({ name: VECTORS })));
  for (const [name, file] of Object.entries(slotFiles(upstream)))
    writeFileSync(join(slots, `${name}.toml`), file);
}

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

export const ROOT = join(import.meta.dirname, '..', '..');
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
  plantHome(home, direct.url.origin);
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
  return { ...target('ours', port, pid, headers), home, idleMb: await idleMb(pid) };
}
