import type { Stats } from 'node:fs';
import { access, constants, lstat, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileMetadataOf, SECRET_ADVICE, secretFileProblem } from '../../auth/signing-secret.ts';
import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { areFilesDenied, isDenied } from './files-denied.ts';

/** Mode bits that only the owner may have. */
const PRIVATE = 0o077;
const WRITABLE = 0o022;

interface CheckedPath {
  path: string;
  /** Mode bits that must be clear. */
  forbidden: number;
  folder: boolean;
  fix: string;
  /** The signing secret. It is checked with the rules of a start, which refuse symlinks too. */
  secret?: true;
}

const checkedPath = (path: string, forbidden: number, folder: boolean): CheckedPath => ({
  path,
  forbidden,
  folder,
  fix: `chmod ${folder ? (forbidden === PRIVATE ? '700' : 'go-w') : '600'} ${path}`,
});

/** Files with secrets, and the folders of both. */
const checkedPaths = ({ config, state }: DoctorInput['settings']['folders']): CheckedPath[] => [
  checkedPath(config, WRITABLE, true),
  checkedPath(state, PRIVATE, true),
  checkedPath(join(config, 'api.env'), PRIVATE, false),
  checkedPath(join(config, 'companion.env'), PRIVATE, false),
  { ...checkedPath(join(state, 'secret.bin'), PRIVATE, false), secret: true },
  checkedPath(join(state, 'svc.db'), PRIVATE, false),
];

const octal = (stats: Stats): string => (stats.mode & 0o777).toString(8);

function findingFor(
  { path, forbidden, folder, fix }: CheckedPath,
  stats: Stats,
  owner: number,
): Finding | null {
  if (folder !== stats.isDirectory()) {
    return fail(
      'files',
      `${path} is not ${folder ? 'a folder' : 'a file'}.`,
      `Move ${path} away and start the gateway again.`,
    );
  }
  if ((stats.mode & forbidden) !== 0) {
    return fail('files', `${path} is open to other users (mode ${octal(stats)}).`, fix);
  }
  return stats.uid === owner
    ? null
    : fail('files', `${path} belongs to user ${stats.uid}, not ${owner}.`, `chown ${owner} ${path}`);
}

/**
 * Checks the form of the secret first: mode and owner can be corrected, a symlink or a truncated file cannot.
 */
function findingForSecret(one: CheckedPath, stats: Stats, owner: number): Finding | null {
  const found = fileMetadataOf(stats);
  const shape = secretFileProblem({ ...found, uid: owner, mode: 0o600 }, owner);
  if (shape !== null) return fail('files', `${one.path} ${shape}.`, SECRET_ADVICE);
  const flaw = secretFileProblem(found, owner);
  return (
    findingFor(one, stats, owner) ?? (flaw === null ? null : fail('files', `${one.path} ${flaw}.`, one.fix))
  );
}

async function checkPath(one: CheckedPath, owner: number, input: DoctorInput): Promise<Finding | null> {
  try {
    if (one.secret) return findingForSecret(one, await lstat(one.path), owner);
    return findingFor(one, await stat(one.path), owner);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && (await lstat(one.path).catch(() => null)) === null) return null;
    if (code === 'ENOENT') return fail('files', `${one.path} is a broken symlink.`, `rm ${one.path}`);
    if (isDenied(error) && areFilesDenied(input)) return null;
    const fix = 'Run svcctl doctor with sudo, or as the user of the service.';
    return warn('files', `${one.path} cannot be read by ${input.user.name} (${code}).`, fix);
  }
}

async function writable(path: string, user: string, what: 'config' | 'state'): Promise<Finding | null> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    const fix = code === 'EROFS' ? `Mount ${path} writable` : `chown ${user} ${path}`;
    if (what === 'state') return fail('files', `${user} cannot write ${path}.`, fix);
    const message = `${path} is read-only, so keys, settings, slots and upstreams cannot be changed through the gateway.`;
    return warn('files', message, `If that is not intended: ${fix}`);
  }
}

/** Files of the configuration folder that are mounts of their own: a file is replaced by a rename. */
async function mountedFiles(config: string, mountPoints: readonly string[]): Promise<Finding[]> {
  const folder = await realpath(config).catch(() => config);
  const inside = mountPoints.filter((point) => point.startsWith(`${folder}/`));
  const found = await Promise.all(
    inside.map(async (point) => {
      const stats = await stat(point).catch(() => null);
      const message = `${point} is a mount of its own, so the gateway cannot change it.`;
      return stats?.isFile() ? [warn('files', message, `Mount ${folder} instead of the file.`)] : [];
    }),
  );
  return found.flat();
}

/** Modes and owners of what must be private, and whether the folders can be written. */
export async function files(input: DoctorInput): Promise<Finding[]> {
  const { settings, user } = input;
  const { config, state } = settings.folders;
  const own = await stat(state).catch(() => null);
  if (own === null && areFilesDenied(input)) return [];
  if (own === null) {
    const message = `There is no state folder ${state} yet.`;
    return [warn('files', message, 'The first start of the gateway creates it.')];
  }
  const found = await Promise.all([
    ...checkedPaths(settings.folders).map((one) => checkPath(one, own.uid, input)),
    ...(own.uid === user.uid
      ? [writable(config, user.name, 'config'), writable(state, user.name, 'state')]
      : []),
    ...(await mountedFiles(config, input.mountPoints)),
  ]);
  const wrong = found.filter((one) => one !== null);
  if (wrong.length === 0 && areFilesDenied(input)) return [];
  return wrong.length > 0 ? wrong : [ok('files', `${config} and ${state} are private to their owner.`)];
}
