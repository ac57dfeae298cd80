import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import type { Outbound } from '../../lib/net/outbound.ts';
import { type ChildProgram, runInChild } from '../child-batches.ts';
import type { GgufMetadata } from '../gguf-metadata.ts';
import type { Hub, HubFile } from './hub.ts';
import { requestHub } from './hub-exchange.ts';

/** Reads the headers of files on the hub. */
export interface RemoteHeaders {
  /**
   * Returns the metadata of a GGUF file, given all its parts in order. Null when its header cannot be read: the hub does
   * not respond, or the file is none. Rejects only with the reason of the signal.
   */
  read(
    repo: { readonly repo: string; readonly revision: string },
    parts: readonly HubFile[],
    signal: AbortSignal,
  ): Promise<GgufMetadata | null>;
}

export interface RemoteHeadersDeps {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly hub: Pick<Hub, 'endpoint'>;
  /** Time limits of the program that reads a header. Default: 15 s for a file. */
  readonly readerTime?: ChildProgram<HeadOutcome>['time'];
}

interface HeadOutcome {
  readonly path: string;
  readonly metadata: GgufMetadata | null;
}

const READER: ChildProgram<HeadOutcome> = {
  path: fileURLToPath(new URL('../header-main.ts', import.meta.url)),
  batch: 1,
  heapMib: 512,
  time: { start: 10_000, file: 5_000 },
  ended: (path) => ({ path, metadata: null }),
};

const MIB = 1024 * 1024;
/** Bytes after which the header is read. A vocabulary of 260,000 tokens and its merges take 10 MB. */
const STEPS = [2 * MIB, 16 * MIB, 48 * MIB];
const LIMIT_MS = 60_000;
const CACHE = { max: 64, ttl: 30 * 60_000 };
const NONE = { metadata: null } as const;

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

class Reader implements RemoteHeaders {
  readonly #deps: RemoteHeadersDeps;
  readonly #known = new LRUCache<string, { metadata: GgufMetadata | null }>(CACHE);

  constructor(deps: RemoteHeadersDeps) {
    this.#deps = deps;
  }

  async read(
    { repo, revision }: { repo: string; revision: string },
    parts: readonly HubFile[],
    signal: AbortSignal,
  ): Promise<GgufMetadata | null> {
    const [first] = parts;
    if (first === undefined) return null;
    const key = `${this.#deps.hub.endpoint().url} ${repo} ${revision} ${first.path}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known.metadata;
    const total = parts.reduce((sum, { size }) => sum + size, 0);
    const path = `/${repo}/resolve/${revision}/${encoded(first.path)}`;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
    const metadata = await this.#readHead(path, { size: first.size, total }, limit).catch(() => null);
    signal.throwIfAborted();
    const result = metadata === null ? NONE : { metadata };
    if (metadata !== null) this.#known.set(key, result);
    return result.metadata;
  }

  async #readHead(
    path: string,
    { size, total }: { size: number; total: number },
    signal: AbortSignal,
  ): Promise<GgufMetadata | null> {
    const { readerTime = READER.time } = this.#deps;
    const folder = await mkdtemp(join(tmpdir(), 'svc-header-'));
    try {
      const file = join(folder, 'head.gguf');
      let bytes = 0;
      for (const step of STEPS) {
        bytes += await this.#append(path, file, { from: bytes, to: Math.min(step, size) }, signal);
        const [outcome] = await runInChild({ ...READER, time: readerTime }, [`${total}:${file}`], signal);
        if (outcome?.metadata != null) return { ...outcome.metadata, files: [] };
        if (bytes < Math.min(step, size) || bytes >= size) return null;
      }
      return null;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Appends bytes of the remote file. Returns how many. */
  async #append(
    path: string,
    file: string,
    { from, to }: { from: number; to: number },
    signal: AbortSignal,
  ): Promise<number> {
    const { outbound, hub } = this.#deps;
    const headers: Record<string, string> = from === 0 ? {} : { range: `bytes=${from}-` };
    const answer = await requestHub({
      outbound,
      endpoint: hub.endpoint(),
      path,
      headers,
      idleMs: LIMIT_MS,
      signal,
    });
    const handle = await open(file, 'a', 0o600);
    let written = 0;
    try {
      if (answer.status !== (from === 0 ? 200 : 206)) return 0;
      for await (const chunk of answer.body) {
        const piece = (chunk as Buffer).subarray(0, to - from - written);
        await handle.write(piece);
        written += piece.length;
        if (written >= to - from) break;
      }
      return written;
    } finally {
      answer.body.destroy();
      await handle.close();
    }
  }
}

/** Creates a reader of remote headers, which remembers some of them. */
export const remoteHeaders = (deps: RemoteHeadersDeps): RemoteHeaders => new Reader(deps);
