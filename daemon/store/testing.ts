import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RequestRecord } from '../contract/system.ts';
import { createLog, type Log } from '../kit/log.ts';
import { connect, type Db } from './connection.ts';
import { Faults } from './faults.ts';
import { migrate } from './migrations.ts';
import type { ModelRow } from './models.ts';
import { MIGRATIONS } from './schema.ts';

/** For tests: a folder that goes with the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** For tests: a log and the lines it wrote, parsed. */
export function recordedLog(): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

/** For tests: a database in memory with the present schema, and a clock for its faults. */
export function memoryDb(): {
  db: Db;
  faults: Faults;
  clock: { ms: number };
  lines: Record<string, unknown>[];
} {
  const db = connect(':memory:');
  migrate(db, MIGRATIONS);
  onTestFinished(() => void db.close());
  const { log, lines } = recordedLog();
  const clock = { ms: 0 };
  return { db, faults: new Faults(log, () => clock.ms), clock, lines };
}

/** For tests: makes every write fail with a real SQLITE_READONLY, or lets them through again. */
export function forbidWrites(db: Db, forbidden: boolean): void {
  db.pragma(`query_only = ${forbidden ? 'ON' : 'OFF'}`);
}

export function aRequest(change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: 'r1',
    at: '2030-01-02T03:04:05.000Z',
    route: '/v1/chat/completions',
    asked: 'agent',
    model: 'demo',
    slot: 'agent',
    upstream: null,
    step: 'slot',
    tier: 'client',
    state: 'done',
    status: 200,
    duration_ms: 12.5,
    ttft_ms: 3.25,
    prompt_tokens: 7,
    completion_tokens: 5,
    error: null,
    ...change,
  };
}

export function aModel(change: Partial<ModelRow> = {}): ModelRow {
  return {
    id: 'demo',
    name: 'Demo',
    type: 'llm',
    format: 'gguf',
    architecture: 'llama',
    quantization: 'Q8_0',
    size_bytes: 5_000_000_000,
    context_length: 4096,
    enable_thinking: false,
    demo: true,
    binding: 'slot:agent',
    created: 1_900_000_000,
    file: '/models/demo-1.gguf',
    files: ['/models/demo-1.gguf', '/models/demo-2.gguf'],
    repo: 'owner/name',
    sha256: 'ab',
    modalities: { input: ['text', 'image'], output: ['text'] },
    capabilities: { tools: true },
    licence: 'MIT',
    source: 'scan',
    revision: 'main',
    auto_slot: { engine: 'embedded' },
    memory: { cpu: 123 },
    header: { layers: 32 },
    ...change,
  };
}
