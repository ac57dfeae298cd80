// Builds the packages; scripts/package.mjs prepares the checkout and runs this on the pinned Node.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { advisories } from './advisories.ts';
import { buildDeb, buildNpm } from './build.ts';
import type { Compression } from './compress.ts';
import { buildDate, type DebianArch } from './debian.ts';

const USAGE = `npm run package [-- OPTIONS]

  --arch amd64|arm64   for this processor (default: that of this machine)
  --npm                also the file for npm install -g
  --release            both processors, xz instead of gzip, both kinds, then lintian; begins with npm audit
  --out FOLDER         where the files go (default: dist/packages)
`;

/** The budget of a release in bytes; a package beyond it fails the build, so that growth is a decision. */
const XZ_BUDGET = 64 * 2 ** 20;

const root = join(import.meta.dirname, '..', '..');
const HERE: DebianArch = process.arch === 'arm64' ? 'arm64' : 'amd64';

function options() {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string' },
      npm: { type: 'boolean', default: false },
      release: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { arch } = values;
  if (arch !== undefined && arch !== 'amd64' && arch !== 'arm64') throw new Error('--arch is amd64 or arm64');
  const archs: DebianArch[] = arch ? [arch] : values.release ? ['amd64', 'arm64'] : [HERE];
  return { ...values, archs, out: values.out ?? join(root, 'dist', 'packages') };
}

function printFile(file: string): number {
  const bytes = readFileSync(file);
  const sum = createHash('sha256').update(bytes).digest('hex');
  console.log(`${sum}  ${relative(process.cwd(), file)}  ${(bytes.length / 2 ** 20).toFixed(1)} MiB`);
  return bytes.length;
}

/** Returns whether lintian accepts the package. Without lintian it logs that and returns true. */
function passesLintian(file: string): boolean {
  const { error, status } = spawnSync('lintian', ['--fail-on', 'error', file], { stdio: 'inherit' });
  if (error) console.warn('SKIPPED lintian: it is not installed');
  return error !== undefined || status === 0;
}

/**
 * Returns true when `npm audit` reports nothing high or critical for the shipped packages. Dashboard
 * libraries count as tools in the lockfile, so tools are included. If the registry cannot be reached, logs
 * that and returns true.
 */
function passesAudit(): boolean {
  const command = ['audit', '--json', '--audit-level=high'];
  const { stdout } = spawnSync('npm', command, { cwd: root, encoding: 'utf8', timeout: 120_000 });
  const found = advisories(stdout ?? '');
  if (!found.known) console.warn(`SKIPPED npm audit: ${found.why}`);
  else console.log(`npm audit: ${found.severe.length} high or critical, ${found.minor} below`);
  const grave = found.known ? found.severe : [];
  for (const each of grave) console.error(each);
  return grave.length === 0;
}

async function main(): Promise<boolean> {
  const { archs, out, release, npm, help } = options();
  if (help) {
    console.log(USAGE);
    return true;
  }
  const compression: Compression = release ? 'xz' : 'gzip';
  const date = buildDate(root, process.env.SOURCE_DATE_EPOCH);
  let fine = !release || passesAudit();
  for (const arch of archs) {
    const deb = await buildDeb({ root, out, arch, compression, date });
    const size = printFile(deb);
    if (release && size > XZ_BUDGET) {
      console.error(`${relative(process.cwd(), deb)} is larger than ${XZ_BUDGET / 2 ** 20} MiB`);
      fine = false;
    }
    if (release) fine = passesLintian(deb) && fine;
    if (npm || release) printFile(await buildNpm({ root, out, arch, compression: 'gzip', date }));
  }
  return fine;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(`npm run package: ${(error as Error).message}`);
  process.exitCode = 1;
}
