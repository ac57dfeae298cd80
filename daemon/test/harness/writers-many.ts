/** Every writer of several files, or of one file with SQLite: backup, restore, pulls, schema changes. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { backup } from '../../backup/backup.ts';
import { incompleteRestore } from '../../backup/incomplete-restore.ts';
import { restore } from '../../backup/restore.ts';
import { type ErrorCode, GatewayError } from '../../contract/errors.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { stagingOf } from '../../models/pulls/staging.ts';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../../models/testing/gguf/writer.ts';
import { startHub } from '../../models/testing/hub.ts';
import { pullBench } from '../../models/testing/pull-bench.ts';
import { runningBackup } from '../../store/backup.ts';
import { connect, type Db } from '../../store/connection.ts';
import { inspect } from '../../store/integrity.ts';
import { openDatabase } from '../../store/open.ts';
import { MIGRATIONS, type Migration } from '../../store/schema.ts';
import { compareFile, type Outcome, put, textOf, type Writer } from './writer.ts';
import { recoverDatabase } from './writers-store.ts';

const foldersOf = (root: string) => ({ config: join(root, 'config'), state: join(root, 'state') });
const archiveOf = (root: string) => join(root, 'svc.tar.gz');
const database = (root: string) => join(root, 'state', 'svc.db');
const rowsOf = (db: Db) => db.prepare('SELECT count(*) FROM facts').pluck();
const ROWS = 50;

/** Creates a database of this release with ROWS facts and the fact `mark`. */
function fill(root: string, mark: string): void {
  mkdirSync(join(root, 'state'), { recursive: true, mode: 0o700 });
  const { db } = openDatabase({ folder: join(root, 'state'), build: rowsOf });
  const insert = db.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?)');
  for (let n = 0; n < ROWS; n++) insert.run(`row ${n}`, 'value '.repeat(50));
  insert.run('mark', mark);
  db.close();
}

/** Reads the fact `mark` without writing; null when the database is not sound. */
function markOf(root: string): string | null {
  if (inspect(database(root)).state !== 'sound') return null;
  const db = connect(database(root), { readonly: true });
  try {
    return String(db.prepare("SELECT value FROM facts WHERE key = 'mark'").pluck().get());
  } finally {
    db.close();
  }
}

const CONFIG = {
  'config/config.toml': '# theirs\n[server]\nport = 8123\n',
  'config/slots/agent.toml': 'autoload = false\n',
};

const BACKUP: Writer = {
  minCalls: 12,
  native: true,
  // A complete archive that omits an unreadable file counts as a failure here.
  canFailLate: true,
  prepare(root) {
    for (const [name, text] of Object.entries(CONFIG)) put(join(root, name), text);
    fill(root, 'first');
    put(archiveOf(root), 'an older archive');
  },
  begin: (root) => ({
    async write() {
      const folders = foldersOf(root);
      const report = await backup({
        folders,
        file: archiveOf(root),
        keys: true,
        force: true,
        version: '1.2.3',
      });
      if (report.left_out.length > 0)
        throw new SetupError(`without ${report.left_out}`, 'The command lists them.');
    },
  }),
  outcome(root) {
    if (textOf(archiveOf(root)) === 'an older archive') return 'old';
    try {
      const tar = gunzipSync(readFileSync(archiveOf(root)));
      if (!tar.includes('SQLite format 3')) return 'torn: members';
      // An unreadable file is omitted from a complete archive, and the report says so.
      return Object.values(CONFIG).every((text) => tar.includes(text)) ? 'new' : 'between';
    } catch (error) {
      return `torn: ${error}`;
    }
  },
};

const BEFORE = {
  'config/config.toml': '# ours\n',
  'config/slots/agent.toml': null,
  'config/slots/mine.toml': 'x\n',
};
/** Each file of the configuration before and after the restore. */
const RESTORED = {
  'config/config.toml': [BEFORE['config/config.toml'], CONFIG['config/config.toml']],
  'config/slots/agent.toml': [null, CONFIG['config/slots/agent.toml']],
  'config/slots/mine.toml': [BEFORE['config/slots/mine.toml'], null],
} as const;

const RESTORE: Writer = {
  minCalls: 40,
  native: true,
  slow: 'kind',
  canFailLate: true,
  async prepare(root) {
    const from = join(root, 'from');
    for (const [name, text] of Object.entries(CONFIG)) put(join(from, name), text);
    fill(from, 'theirs');
    const file = archiveOf(root);
    await backup({ folders: foldersOf(from), file, keys: true, force: false, version: '1.2.3' });
    for (const [name, text] of Object.entries(BEFORE)) if (text !== null) put(join(root, name), text);
    fill(root, 'ours');
    put(join(root, 'state', 'secret.bin'), Buffer.alloc(32, 7));
  },
  begin: (root) => ({
    write: () => restore({ folders: foldersOf(root), file: archiveOf(root), lock: async () => () => {} }),
  }),
  outcome(root) {
    const each = Object.entries(RESTORED).map(([name, [before, after]]) =>
      compareFile(join(root, name), before, after),
    );
    const mark = markOf(root);
    if (mark !== 'ours' && mark !== 'theirs') return `torn: ${mark}`;
    const all = [...each, mark === 'ours' ? 'old' : 'new'] as Outcome[];
    const torn = all.find((outcome) => outcome.startsWith('torn'));
    if (torn !== undefined) return torn;
    if (incompleteRestore(join(root, 'state')) !== null) return 'between';
    if (new Set(all).size > 1) return 'torn: half restored without a mark';
    return all[0] as Outcome;
  },
};

const NEXT: Migration = {
  version: MIGRATIONS.length + 1,
  name: 'next',
  sql: `ALTER TABLE facts ADD COLUMN note TEXT; UPDATE facts SET note = value || value;`,
};
/** All statements of the migration, or none. */
const SCHEMA: Writer = {
  minCalls: 10,
  native: true,
  // The new schema is in place but its folder could not be flushed: this run continues in memory, the next one finds it.
  canFailLate: true,
  prepare: (root) => fill(root, 'first'),
  begin: (root) => ({
    async write() {
      const opened = openDatabase({
        folder: join(root, 'state'),
        migrations: [...MIGRATIONS, NEXT],
        build: rowsOf,
      });
      const rows = opened.built.get();
      opened.db.close();
      if (opened.location === 'memory') {
        throw new GatewayError('store.unavailable', { message: opened.alarm ?? 'in memory' });
      }
      if (opened.isContentLost || rows !== ROWS + 1) throw new Error(`torn: ${rows} rows, ${opened.alarm}`);
    },
  }),
  outcome(root) {
    recoverDatabase(database(root));
    const found = inspect(database(root));
    if (existsSync(runningBackup(database(root)))) return 'between';
    if (found.state !== 'sound') return `torn: ${found.state}`;
    if (markOf(root) !== 'first') return 'torn: rows';
    return found.version === NEXT.version ? 'new' : 'old';
  },
};

const REPO = 'maker/Tiny-GGUF';
const FILE = 'tiny.Q4_K_M.gguf';
const WEIGHTS = Buffer.from(encodeGguf(tinyChat({ name: 'Tiny', width: 32 })));
const JOB = '0123456789abcdef';
const PARTS = ['a/one.gguf', 'two.gguf'];
const modelsOf = (root: string) => join(root, 'state', 'models');

/** Installs the verified files of a pull. Each file is complete wherever it is. */
const INSTALLED: Writer = {
  minCalls: 12,
  isInner: true,
  isPublic: true,
  canFailLate: true,
  prepare(root) {
    const staging = stagingOf(modelsOf(root), JOB, REPO);
    for (const path of PARTS) put(staging.verifiedPath(path), `weights of ${path}`);
  },
  begin: (root) => ({ write: () => stagingOf(modelsOf(root), JOB, REPO).install(PARTS) }),
  outcome(root) {
    const staging = stagingOf(modelsOf(root), JOB, REPO);
    const placed = PARTS.map((path) => textOf(staging.finalPath(path)));
    const staged = PARTS.map((path) => textOf(staging.verifiedPath(path)));
    const whole = PARTS.every((path, i) => (placed[i] ?? staged[i]) === `weights of ${path}`);
    if (!whole) return `torn: ${placed} ${staged}`;
    const installedCount = placed.filter((text) => text !== null).length;
    if (installedCount === 0) return 'old';
    return installedCount === PARTS.length ? 'new' : 'between';
  },
};

const PULL: Writer = {
  minCalls: 15,
  native: true,
  isPublic: true,
  slow: 'calls',
  canFailLate: true,
  prepare: () => {},
  async begin(root) {
    const hub = await startHub({ [REPO]: { files: { [FILE]: WEIGHTS } } });
    const bench = await pullBench(hub.url, { home: root }).catch(async (error: unknown) => {
      await hub.close();
      throw error;
    });
    return {
      async write() {
        const { id } = await bench.pull(REPO);
        const { state, error } = await bench.until(id, 'done', 'failed');
        if (state === 'failed') {
          throw new GatewayError((error?.code ?? 'internal') as ErrorCode, {
            message: error?.message ?? state,
          });
        }
      },
      async end() {
        await bench.close();
        await hub.close();
      },
    };
  },
  outcome(root) {
    const path = join(modelsOf(root), ...REPO.split('/'), FILE);
    if (!existsSync(path)) return 'old';
    return readFileSync(path).equals(WEIGHTS) ? 'new' : 'torn: weights';
  },
};

export const MANY: Readonly<Record<string, Writer>> = {
  'a backup': BACKUP,
  'a restore': RESTORE,
  'a change of the schema': SCHEMA,
  'the installation of a pulled model': INSTALLED,
  'a whole pull': PULL,
};
