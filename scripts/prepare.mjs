// Plain JavaScript for Node 20, without imports from node_modules: brings the checkout into a runnable state.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, release } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, '.cache');

/** Exits with one line that says what to do. */
export function stop(message, advice) {
  console.error(`svc-gateway: ${message}\n  ${advice}`);
  process.exit(1);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  stop(
    `Node ${process.versions.node} is too old.`,
    'Install Node 20.19 or newer; the gateway brings its own Node 24.',
  );
}

/** Returns the sha256 of names and bytes of the given files and folders, in a stable order. */
function hashOf(paths) {
  const hash = createHash('sha256');
  const visit = (path) => {
    const self = statSync(path, { throwIfNoEntry: false });
    if (self === undefined) return;
    if (self.isDirectory()) {
      for (const name of readdirSync(path).sort()) if (name !== 'node_modules') visit(join(path, name));
      return;
    }
    hash.update(relative(root, path)).update('\0').update(readFileSync(path)).update('\0');
  };
  for (const path of paths) visit(join(root, path));
  return hash.digest('hex');
}

const stampFile = (name) => join(cache, `${name}.sha256`);
const isFresh = (name, hash) => existsSync(stampFile(name)) && readFileSync(stampFile(name), 'utf8') === hash;
function stamp(name, hash) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(stampFile(name), hash);
}

/** Hashes the parts of package.json that decide what is installed. A new script needs no new installation. */
function manifestHash() {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const fields = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'];
  return createHash('sha256')
    .update(JSON.stringify(fields.map((name) => manifest[name])))
    .digest('hex');
}

function install() {
  const hash = `${hashOf(['package-lock.json', '.npmrc'])} ${manifestHash()}`;
  if (isFresh('install', hash) && existsSync(join(root, 'node_modules'))) return;
  console.log('Installing packages (once per change of the lockfile) …');
  // An aborted installation has removed packages. Without the stamp the next one starts from the beginning.
  rmSync(stampFile('install'), { force: true });
  // Vite and React are dev packages, which NODE_ENV=production would leave out.
  const words = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = spawnSync('npm', words, { cwd: root, stdio: 'inherit' });
  if (npm.status !== 0) stop('npm ci failed.', 'Check the network and the lines above, then try again.');
  stamp('install', hash);
}

/** The dynamic loaders of glibc. */
const LOADERS = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'];

/**
 * Returns whether a runtime works on this system, whose C library may differ. Checked once per file and
 * system.
 */
function runsHere(binary) {
  const found = statSync(binary, { throwIfNoEntry: false });
  if (found === undefined) return false;
  const loaders = LOADERS.filter((file) => existsSync(file));
  const identity = [binary, found.size, found.mtimeMs, hostname(), release(), ...loaders].join('\0');
  const hash = createHash('sha256').update(identity).digest('hex');
  if (isFresh('runtime', hash)) return true;
  const probe = spawnSync(binary, ['-p', 'process.versions.node'], { encoding: 'utf8' });
  if (probe.status !== 0) return false;
  try {
    stamp('runtime', hash);
  } catch {
    // A checkout without write permission checks each time.
  }
  return true;
}

/** The pinned Node 24 of this platform, else the outer one when it is new enough. */
export function pinnedNode() {
  const pinned = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  if (process.platform === 'linux' && runsHere(pinned)) return pinned;
  if (major >= 24) return process.execPath;
  return stop(
    `There is no Node 24 for ${process.platform}-${process.arch} in this install.`,
    'Install Node 24 or newer and start again with it.',
  );
}

/** Runs a program of the build; ends when it fails. */
function build(what, node, args) {
  console.log(`Building the ${what} …`);
  try {
    execFileSync(node, args, { cwd: root, stdio: 'inherit' });
  } catch {
    stop(`The ${what} could not be built.`, 'See the lines above.');
  }
}

function buildDashboard(node) {
  const hash = hashOf(['dashboard', 'daemon/contract', 'package-lock.json']);
  if (isFresh('dashboard', hash) && existsSync(join(root, 'dist', 'dashboard', 'index.html'))) return;
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const config = join(root, 'dashboard', 'vite.config.ts');
  build('dashboard', node, [vite, 'build', '--config', config, '--logLevel', 'warn']);
  stamp('dashboard', hash);
}

/**
 * Returns the sha256 of names, sizes and times of files: a start checks a thousand sources without reading
 * them.
 */
function timesOf(paths) {
  const hash = createHash('sha256');
  const visit = (path) => {
    const self = statSync(join(root, path), { throwIfNoEntry: false });
    if (self === undefined) return;
    if (self.isDirectory()) {
      for (const name of readdirSync(join(root, path)).sort()) visit(`${path}/${name}`);
      return;
    }
    hash.update(`${path}\0${self.size}\0${self.mtimeMs}\0`);
  };
  for (const path of paths) visit(path);
  return hash.digest('hex');
}

const daemonSources = () => timesOf(['daemon', 'scripts/build', 'package-lock.json']);
const isDaemonFresh = (hash) =>
  isFresh('daemon', hash) && existsSync(join(root, 'dist', 'daemon', 'main.js'));

/** Whether `dist/daemon` is built from the sources as they are now. */
export const daemonIsBuilt = () => isDaemonFresh(daemonSources());

/** Builds the daemon when its sources changed. */
export function buildDaemon(node) {
  const hash = daemonSources();
  if (isDaemonFresh(hash)) return;
  build('daemon', node, [join(root, 'scripts', 'build', 'main.ts')]);
  stamp('daemon', hash);
}

/** Installs when the lockfile changed, builds what changed if requested, and returns the Node to run on. */
export function prepare({ build: built }) {
  install();
  const node = pinnedNode();
  if (built) {
    buildDashboard(node);
    buildDaemon(node);
  }
  return { node };
}
