import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const cache = join(import.meta.dirname, '..', '..', '..', '.cache', 'trees');

/** Packages of the small Debian in addition to its base. The container has no network, so everything that our package needs is here. */
const PACKAGES = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'curl',
  'ca-certificates',
  'procps',
  'iproute2',
  'libstdc++6',
];

const which = (program: string): string | null =>
  spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim() || null;

/** Returns the mirror that this machine uses. */
function mirror(): string {
  const folder = '/etc/apt/sources.list.d';
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  for (const file of [...files, '/etc/apt/sources.list'].filter(existsSync)) {
    const text = readFileSync(file, 'utf8');
    const found =
      /^URIs:\s*(https?:\S+debian\S*)/m.exec(text) ??
      /^deb\s+(?:\[.*?\]\s+)?(https?:\S+debian\S*)/m.exec(text);
    if (found?.[1] && !found[1].includes('security')) return found[1];
  }
  return 'http://deb.debian.org/debian';
}

const RELEASE = 'bookworm';

/** Returns why no container with its own systemd can be started here, or null. */
export function whyNoContainer(): string | null {
  if (process.platform !== 'linux') return 'this is no Linux';
  if (process.getuid?.() !== 0) return 'it takes root';
  if (which('systemd-nspawn') === null)
    return 'there is no systemd-nspawn (node scripts/test-tools.mjs systemd-container)';
  if (!existsSync(treeFolder()) && which('mmdebstrap') === null)
    return 'there is no mmdebstrap (node scripts/test-tools.mjs mmdebstrap)';
  return null;
}

function treeFolder(packages: readonly string[] = PACKAGES): string {
  const key = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 12);
  return join(cache, `${RELEASE}-${key}`);
}

/**
 * Returns the folder of a fresh Debian with `more` packages, created once and never changed. Throws the error of mmdebstrap.
 */
export function freshTree(more: readonly string[] = []): string {
  const packages = [...PACKAGES, ...more];
  const folder = treeFolder(packages);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.tmp`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  execFileSync(
    'mmdebstrap',
    [
      '--quiet',
      '--variant=minbase',
      `--include=${packages.join(',')}`,
      '--aptopt=APT::Install-Recommends "false"',
      // Durability is not needed: syncing each file took most of the time.
      '--dpkgopt=force-unsafe-io',
      RELEASE,
      unfinished,
      `deb ${mirror()} ${RELEASE} main`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8', timeout: 480_000 },
  );
  renameSync(unfinished, folder);
  return folder;
}
