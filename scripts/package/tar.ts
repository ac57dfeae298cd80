import {
  BLOCK_BYTES,
  MAX_NAME_BYTES,
  paddingOf,
  type TarMember,
  tarHeader,
} from '../../daemon/lib/fs/tar-header.ts';
import { byPath, bytesOf, type Entry, PROGRAM, sizeOf } from './entry.ts';

const FILE = '0';
const FOLDER = '5';
/** GNU's way of a name beyond 100 bytes, which dpkg reads; it does not read the newer headers (pax). */
const LONG_NAME = 'L';

const padding = (size: number): Buffer => Buffer.alloc(paddingOf(size));

function named(member: TarMember): Buffer[] {
  const bytes = Buffer.from(`${member.name}\0`);
  if (bytes.length <= MAX_NAME_BYTES) return [tarHeader(member)];
  const long = { ...member, name: '././@LongLink', mode: 0, size: bytes.length, mtime: 0, type: LONG_NAME };
  return [tarHeader(long), bytes, padding(bytes.length), tarHeader(member)];
}

/** Every folder on the way to the entries, parents first. */
function foldersOf(entries: readonly Entry[]): string[] {
  const found = new Set<string>();
  for (const { path } of entries) {
    const parts = path.split('/').slice(0, -1);
    parts.forEach((_, index) => void found.add(parts.slice(0, index + 1).join('/')));
  }
  return [...found];
}

/**
 * Returns a tar archive of the entries in chunks: sorted by path, owned by root, all times `mtime` (Unix
 * seconds), so that the same entries give the same bytes everywhere. With `root`, every name begins with it
 * and folders are included.
 */
export function* tar(entries: readonly Entry[], mtime: number, root = ''): Generator<Buffer> {
  const folders = root === '' ? [] : ['', ...foldersOf(entries)];
  const members = [
    ...folders.map((path) => ({ path: path === '' ? '' : `${path}/`, entry: null })),
    ...entries.map((entry) => ({ path: entry.path, entry })),
  ].sort(byPath);
  for (const { path, entry } of members) {
    const name = `${root}${path}`;
    if (entry === null) {
      yield* named({ name, mode: PROGRAM, size: 0, mtime, type: FOLDER });
      continue;
    }
    const size = sizeOf(entry);
    yield* named({ name, mode: entry.mode, size, mtime, type: FILE });
    yield bytesOf(entry);
    yield padding(size);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}
