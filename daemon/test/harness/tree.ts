import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const cache = join(import.meta.dirname, '..', '..', '..', '.cache', 'trees');

/** What a small Debian has beside its base; the network is cut off later, so that everything the package needs is here. */
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

/** The mirror that this machine uses. */
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

/** Why no container with a systemd of its own can be started here; null when one can. */
export function noContainer(): string | null {
  if (process.platform !== 'linux') return 'this is no Linux';
  if (process.getuid?.() !== 0) return 'it takes root';
  if (which('systemd-nspawn') === null)
    return 'there is no systemd-nspawn (node scripts/test-tools.mjs systemd-container)';
  if (!existsSync(place()) && which('mmdebstrap') === null)
    return 'there is no mmdebstrap (node scripts/test-tools.mjs mmdebstrap)';
  return null;
}

function place(): string {
  const key = createHash('sha256').update(PACKAGES.join(' ')).digest('hex').slice(0, 12);
  return join(cache, `${RELEASE}-${key}`);
}

/** The folder of a fresh Debian, made once and never written afterwards. Throws with the words of mmdebstrap. */
export function freshTree(): string {
  const folder = place();
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.tmp`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  execFileSync(
    'mmdebstrap',
    [
      '--quiet',
      '--variant=minbase',
      `--include=${PACKAGES.join(',')}`,
      '--aptopt=APT::Install-Recommends "false"',
      // A tree of tests may be lost: waiting for the disk behind each file took most of its time.
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
