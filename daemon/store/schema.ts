/** One step of the schema. `version` counts up from 1 without gaps. A released step never changes. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

const FIRST = `
CREATE TABLE facts (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  action TEXT NOT NULL,
  tier TEXT,
  address TEXT,
  details TEXT NOT NULL
) STRICT;

CREATE TABLE requests (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at TEXT NOT NULL,
  route TEXT NOT NULL,
  model TEXT,
  slot TEXT,
  upstream TEXT,
  step TEXT,
  tier TEXT NOT NULL,
  state TEXT NOT NULL,
  status INTEGER,
  duration_ms REAL,
  ttft_ms REAL,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  error TEXT
) STRICT;

CREATE TABLE usage (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  day TEXT NOT NULL,
  tier TEXT NOT NULL,
  model TEXT NOT NULL,
  requests INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  UNIQUE (day, tier, model)
) STRICT;

CREATE TABLE models (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  format TEXT NOT NULL,
  architecture TEXT,
  quantization TEXT,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT,
  file TEXT,
  files TEXT NOT NULL,
  repo TEXT,
  context_length INTEGER,
  modalities TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  enable_thinking INTEGER,
  licence TEXT,
  source TEXT NOT NULL,
  revision TEXT,
  binding TEXT,
  auto_slot TEXT,
  demo INTEGER NOT NULL,
  created INTEGER NOT NULL,
  memory TEXT NOT NULL,
  header TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE pulls (
  id TEXT PRIMARY KEY,
  repo TEXT NOT NULL,
  file TEXT NOT NULL,
  state TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  total INTEGER,
  etag TEXT,
  sha256 TEXT,
  revision TEXT,
  error TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;
CREATE INDEX pulls_by_age ON pulls (created);

CREATE TABLE memories (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  tags TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE memory_words USING fts5(
  text, tags, content='', tokenize="unicode61 remove_diacritics 2", prefix='2 3'
);
INSERT INTO memory_words(memory_words, rank) VALUES ('secure-delete', 1);
`;

const PULLS = `
ALTER TABLE pulls ADD COLUMN main TEXT;
ALTER TABLE pulls ADD COLUMN code TEXT;
ALTER TABLE pulls ADD COLUMN model TEXT;
ALTER TABLE pulls ADD COLUMN licence TEXT;
CREATE TABLE pull_files (
  pull TEXT NOT NULL,
  path TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT,
  blob TEXT,
  etag TEXT,
  PRIMARY KEY (pull, path)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER pull_files_go AFTER DELETE ON pulls BEGIN
  DELETE FROM pull_files WHERE pull = old.id;
END;
`;

const VECTORS = `
CREATE TABLE memory_vectors (
  seq INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  vector BLOB NOT NULL
) STRICT;
`;

const STORIES = `
ALTER TABLE requests ADD COLUMN asked TEXT;
ALTER TABLE requests ADD COLUMN story TEXT;
`;

/**
 * One row per request, so that `sqlite3` can read the log. Drops the log of development versions: 1 to 4 had other
 * columns, 5 had rows of many requests (docs/adr/0075-logs-of-development-versions-are-dropped.md).
 */
const ROWS = `
DROP TABLE IF EXISTS requests;
DROP TABLE IF EXISTS request_batches;
CREATE TABLE requests (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at TEXT NOT NULL,
  route TEXT NOT NULL,
  asked TEXT,
  model TEXT,
  slot TEXT,
  upstream TEXT,
  step TEXT,
  tier TEXT NOT NULL,
  state TEXT NOT NULL,
  status INTEGER,
  duration_ms REAL,
  ttft_ms REAL,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  error TEXT,
  message TEXT,
  reason TEXT,
  app TEXT,
  user_agent TEXT,
  address TEXT,
  story TEXT,
  overhead_ms REAL
) STRICT;
`;

/** Requests whose token counts are unknown. */
const UNCOUNTED = 'ALTER TABLE usage ADD COLUMN uncounted INTEGER NOT NULL DEFAULT 0;';

/** All steps of the schema, in order. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'first tables', sql: FIRST },
  { version: 2, name: 'files of pulls', sql: PULLS },
  { version: 3, name: 'vectors of memories', sql: VECTORS },
  { version: 4, name: 'stories of requests', sql: STORIES },
  { version: 5, name: 'batches of requests', sql: '' },
  { version: 6, name: 'rows of requests', sql: ROWS },
  { version: 7, name: 'requests without token counts', sql: UNCOUNTED },
];
