import { byPath, bytesOf, type Entry, PROGRAM, sizeOf } from './entry.ts';

const BLOCK = 512;
const NAME_BYTES = 100;
const FILE = '0';
const FOLDER = '5';
/** GNU's way of a name beyond 100 bytes, which dpkg reads; it does not read the newer headers (pax). */
const LONG_NAME = 'L';

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;
const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

interface Member {
  name: string;
  mode: number;
  size: number;
  /** Unix seconds. */
  mtime: number;
  type: string;
}

function header({ name, mode, size, mtime, type }: Member): Buffer {
  const block = Buffer.alloc(BLOCK);
  const put = (text: string, at: number) => block.write(text, at, 'latin1');
  block.write(name, 0, NAME_BYTES, 'utf8');
  put(octal(mode, 8), 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(size, 12), 124);
  put(octal(mtime, 12), 136);
  put(' '.repeat(8), 148);
  put(type, 156);
  put('ustar  \0', 257);
  put('root', 265);
  put('root', 297);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function named(member: Member): Buffer[] {
  const bytes = Buffer.from(`${member.name}\0`);
  if (bytes.length <= NAME_BYTES) return [header(member)];
  const long = { ...member, name: '././@LongLink', mode: 0, size: bytes.length, mtime: 0, type: LONG_NAME };
  return [header(long), bytes, padding(bytes.length), header(member)];
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
 * A tar archive of the entries, in pieces: sorted by path, owned by root, all times `mtime` (Unix seconds), so that the same
 * entries give the same bytes everywhere. With `root` every name begins with it and the folders stand in the archive.
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
  yield Buffer.alloc(2 * BLOCK);
}
