/** Maximum bytes of a file's path in a repository. */
const MAX_PATH_BYTES = 512;
const MAX_SEGMENT_BYTES = 200;
const REPO = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;
/**
 * Letters and digits of any script and a few signs; no control characters, bidirectional marks or separators.
 */
const SEGMENT = /^[\p{L}\p{N}!_+@(=,][\p{L}\p{M}\p{N}!_+@()=,.' -]*$/u;
/** Device names that Windows reserves, with any extension. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Returns whether `repo` is an `owner/name` that can also be two folders. */
export const isRepoName = (repo: string): boolean =>
  REPO.test(repo) &&
  repo.split('/').every((part) => !part.includes('..') && !/[.]$/.test(part) && !DEVICES.test(part));

/** Returns whether a file of the hub may use this path below a local folder, on every file system. */
export function isSafePath(path: string): boolean {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES || path !== path.normalize('NFC')) return false;
  return path.split('/').every(isSafeSegment);
}

const isSafeSegment = (name: string): boolean =>
  Buffer.byteLength(name) <= MAX_SEGMENT_BYTES &&
  SEGMENT.test(name) &&
  !/[. ]$/.test(name) &&
  !DEVICES.test(name);

/**
 * Returns whether two names are equal on a case-insensitive file system, or one is the parent folder of
 * another.
 */
export function collide(paths: readonly string[]): boolean {
  const folded = new Set(paths.map((path) => path.normalize('NFKC').toLowerCase()));
  if (folded.size !== paths.length) return true;
  return [...folded].some((path) => foldersOf(path).some((folder) => folded.has(folder)));
}

const foldersOf = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));
