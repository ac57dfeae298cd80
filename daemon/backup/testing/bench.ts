import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { BLOCK_BYTES, paddingOf, type TarMember, tarHeader } from '../../lib/fs/tar-header.ts';
import { silentLog } from '../../lib/log.ts';
import { openStore } from '../../store/store.ts';
import { type BackupOptions, backup } from '../backup.ts';
import { type RestoreOptions, restore } from '../restore.ts';

/** Test support: folders of a gateway that does not run. */
export interface Home {
  readonly root: string;
  readonly folders: { config: string; state: string };
  write(files: Readonly<Record<string, string>>): void;
  /** Every file below both folders with its text, and the database as its facts. */
  snapshot(): Record<string, string>;
  fact(key: string, value?: string): string | null;
}

const NOT_RESTORED = /^state\/(before-restore-|gateway\.pid)/;

function filesBelow(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}

function makeHome(files: Readonly<Record<string, string>>): Home {
  const root = mkdtempSync(join(tmpdir(), 'svc-backup-'));
  const folders = { config: join(root, 'config'), state: join(root, 'state') };
  for (const folder of Object.values(folders)) mkdirSync(folder, { mode: 0o700 });
  const home: Home = {
    root,
    folders,
    write(more) {
      for (const [name, text] of Object.entries(more)) {
        mkdirSync(dirname(join(root, name)), { recursive: true, mode: 0o700 });
        writeFileSync(join(root, name), text, { mode: 0o600 });
      }
    },
    snapshot() {
      const found = filesBelow(root).filter((path) => !NOT_RESTORED.test(path) && !/svc\.db/.test(path));
      const texts = found.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);
      return { ...Object.fromEntries(texts.sort()), 'fact mark': String(home.fact('mark')) };
    },
    fact(key, value) {
      const store = openStore({
        folder: folders.state,
        log: silentLog(),
      });
      try {
        if (value !== undefined) store.keyValue.set(key, value);
        return store.keyValue.get(key);
      } finally {
        store.close();
      }
    },
  };
  home.write(files);
  return home;
}

export const modeOf = (path: string): number => statSync(path).mode & 0o777;

export const backUp = (home: Home, file: string, more: Partial<BackupOptions> = {}) =>
  backup({ folders: home.folders, file, keys: false, force: false, version: '1.2.3', ...more });

export const restoreHome = (home: Home, file: string, more: Partial<RestoreOptions> = {}) =>
  restore({ folders: home.folders, file, lock: async () => () => {}, ...more });

/** One member of a forged archive. Omitted fields have valid values. */
export interface Forged extends Partial<TarMember> {
  name: string;
  content?: Buffer;
}

/** Returns the bytes of a tar archive with members that the gateway would never write. */
export function forged(members: readonly Forged[]): Buffer {
  const parts = members.flatMap(({ content = Buffer.alloc(0), ...rest }) => [
    tarHeader({ mode: 0o600, mtime: 0, type: '0', size: content.length, ...rest }),
    content,
    Buffer.alloc(paddingOf(content.length)),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK_BYTES)]);
}

export const gzipped = (file: string, bytes: Buffer): string => {
  writeFileSync(file, gzipSync(bytes));
  return file;
};

export const KEY = 'sk-canary-7d1f0a9b3c5e';
/** The files of a gateway with one of each kind; its keys are KEY. */
export const FILES = {
  'config/config.toml': '# mine\n[server]\nport = 8123\n',
  'config/api.env': `# old ${KEY}\nSVC_ADMIN_KEY=${KEY}\nSVC_PORT=8200\nUPSTREAM_X=${KEY}\n`,
  'config/slots/agent.toml': 'model = "a"\n',
  'config/upstreams/box.toml': 'base_url = "http://box:8080/v1"\n',
};

/** A home that is removed at the end of the test. */
export function home(files: Readonly<Record<string, string>> = {}): Home {
  const created = makeHome(files);
  onTestFinished(() => rmSync(created.root, { recursive: true, force: true }));
  return created;
}

/** One with all of FILES and a database whose fact `mark` is `first`. */
export function fullHome(): Home {
  const created = home(FILES);
  created.fact('mark', 'first');
  return created;
}

/** A file outside of every home, removed at the end of the test. */
export function outside(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, name);
}
