import { readdirSync, rmSync, statfsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { KvCacheCleared, KvCacheView, PersistMode } from '../../contract/kv-cache.ts';
import type { Log } from '../../lib/log.ts';
import { startTicksOf } from '../../lib/process/process-identity.ts';
import { KEEP_FREE_BYTES } from '../admission/eviction.ts';
import { type KvCacheConfig, SAVE_LIMIT_MS } from '../workers/protocol.ts';
import {
  ensurePrivateFolder,
  isPrivateFolder,
  listStates,
  makeSpace,
  modelFolderName,
  modelOfFolder,
  type StateFile,
  statesIn,
  sweepIncomplete,
} from './state-files.ts';

/** Share of the machine's memory that saved states may use (docs/spec/contract.md#kv-cache). */
const MEMORY_SHARE = 0.1;
const MAX_STATES = 64;
const MAX_UNSUPPORTED = 64;
/** Type of a file system in memory, of statfs(2). */
const TMPFS_MAGIC = 0x01021994;
const MEMORY_FOLDER = /^svc-gateway-(\d+)-(\d+)$/;

export interface KvCacheDeps {
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly stateFolder: string;
  persist(): PersistMode;
  /** Maximum bytes of the states on disk. */
  maxDiskBytes(): number;
  /** Total memory of the machine in bytes. */
  memoryBytes(): number;
  /** The folder in memory; default `/dev/shm`. */
  readonly sharedMemory?: string;
}

/**
 * The saved states of conversations: decides where they are and how many, and deletes them with their model or when the
 * owner turns them off. Workers write and read them.
 */
export class KvCache {
  readonly #deps: KvCacheDeps;
  readonly #sharedMemory: string;
  readonly #memoryRoot: string;
  readonly #diskRoot: string;
  #hits = 0;
  #restoredTokens = 0;
  /** Why the engine of a slot cannot restore what it saves, and its model. */
  readonly #unsupported = new Map<string, { readonly model: string; readonly reason: string }>();

  /** Deletes what earlier gateways left in memory, and on disk unless states are saved there. */
  constructor(deps: KvCacheDeps) {
    this.#deps = deps;
    this.#sharedMemory = deps.sharedMemory ?? '/dev/shm';
    this.#memoryRoot = join(
      this.#sharedMemory,
      `svc-gateway-${process.pid}-${startTicksOf(process.pid) ?? 0}`,
    );
    this.#diskRoot = join(deps.stateFolder, 'kv');
    removeAbandoned(this.#sharedMemory);
    this.settingsChanged();
  }

  /** Returns where a worker saves the states of a model; null when it does not. */
  configFor(modelId: string): KvCacheConfig | null {
    const root = this.#root();
    if (root === null) return null;
    const problem = this.#problem();
    if (problem !== null || !ensurePrivateFolder(root)) {
      this.#deps.log.warn({ problem }, 'the states of conversations are not saved');
      return null;
    }
    return {
      root,
      folder: join(root, modelFolderName(modelId)),
      maxBytes: this.#maxBytes(),
      maxStates: MAX_STATES,
      survivesRestart: this.#deps.persist() === 'disk',
    };
  }

  /** Counts a request that used a saved state. */
  restored(tokens: number): void {
    this.#hits++;
    this.#restoredTokens += tokens;
  }

  /** Records that the engine of a slot cannot restore what it saves. */
  notSaved(slot: string, model: string, reason: string): void {
    this.#unsupported.delete(slot);
    this.#unsupported.set(slot, { model, reason });
    for (const oldest of this.#unsupported.keys())
      if (this.#unsupported.size > MAX_UNSUPPORTED) this.#unsupported.delete(oldest);
    this.#deps.log.warn({ slot, model, reason }, 'the conversations of an engine are not saved');
  }

  /** Records that the engine of a slot restores what it saves. */
  isSaved(slot: string): void {
    this.#unsupported.delete(slot);
  }

  /**
   * Logs that an engine was killed before its conversations were saved, and deletes what it was writing. States that were
   * complete stay.
   */
  interrupted(slot: string, model: string): void {
    const root = this.#root();
    if (root !== null) sweepIncomplete(join(root, modelFolderName(model)));
    this.#deps.log.warn({ slot, model }, 'an engine ended before its conversations were saved');
  }

  /** Returns the bytes of host memory that the states hold and that a load can get. */
  reclaimableBytes(): number {
    if (this.#deps.persist() !== 'memory') return 0;
    return sumOf(listStates(this.#memoryRoot));
  }

  /** Deletes states in memory, oldest first, so that a load of `neededBytes` gets what it was promised. */
  reclaim(neededBytes: number, availableBytes: number): void {
    const missing = neededBytes + KEEP_FREE_BYTES - availableBytes;
    const held = missing > 0 ? this.reclaimableBytes() : 0;
    if (held === 0) return;
    const limits = { maxBytes: Math.max(0, held - missing), maxStates: MAX_STATES + 1 };
    makeSpace(this.#memoryRoot, limits, 0);
  }

  /** Returns where states are saved; null when they are not. */
  from(): 'memory' | 'disk' | null {
    const mode = this.#deps.persist();
    return mode === 'off' || this.#problem() !== null ? null : mode;
  }

  /** Returns the milliseconds that a stop of the gateway waits for engines that save. States in memory end with it. */
  saveLimitMs(): number {
    return this.#deps.persist() === 'disk' ? SAVE_LIMIT_MS : 0;
  }

  /** Returns why nothing is saved, as a sentence; null when states are saved. */
  problem(): string | null {
    return this.#deps.persist() === 'off' ? 'kv_cache.persist is off.' : this.#problem();
  }

  /** Returns why the engine of a slot with this model cannot restore what it saves; null when it can, or when unknown. */
  unsupported(slot: string, modelId: string): string | null {
    const known = this.#unsupported.get(slot);
    return known?.model === modelId ? known.reason : null;
  }

  /** Returns the number of saved states of a model. */
  savedOf(modelId: string): number {
    const root = this.#root();
    return root === null ? 0 : statesIn(join(root, modelFolderName(modelId))).length;
  }

  view(): KvCacheView {
    const root = this.#root();
    const states = root === null ? [] : listStates(root);
    const folders = Map.groupBy(states, ({ folder }) => folder);
    return {
      persist: this.#deps.persist(),
      problem: this.#problem(),
      states: states.length,
      bytes: sumOf(states),
      max_bytes: root === null || this.#problem() !== null ? 0 : this.#maxBytes(),
      hits: this.#hits,
      restored_tokens: this.#restoredTokens,
      unsupported: [...this.#unsupported].map(([slot, known]) => ({ slot, ...known })),
      models: [...folders].map(([folder, own]) => ({
        model: modelOfFolder(folder),
        states: own.length,
        bytes: sumOf(own),
        last_used_at: Math.round(Math.max(...own.map(({ usedAt }) => usedAt))),
      })),
    };
  }

  /** Deletes all states, or those of one model. Running engines still save what they hold when they end. */
  clear(modelId: string | null): KvCacheCleared {
    const root = this.#root();
    const states = (root === null ? [] : listStates(root)).filter(
      ({ folder }) => modelId === null || basename(folder) === modelFolderName(modelId),
    );
    for (const folder of new Set(states.map((state) => state.folder))) this.#remove(folder);
    return { deleted: states.length, bytes: sumOf(states) };
  }

  /** Deletes the states of a model that was removed. */
  modelRemoved(modelId: string): void {
    for (const root of [this.#memoryRoot, this.#diskRoot]) this.#remove(join(root, modelFolderName(modelId)));
  }

  /** Deletes the states where they are no longer saved. Running engines save nothing there from then on. */
  settingsChanged(): void {
    const root = this.#root();
    for (const other of [this.#memoryRoot, this.#diskRoot]) if (other !== root) this.#remove(other);
  }

  /** Deletes the states in memory, before the engines end. */
  close(): void {
    this.#remove(this.#memoryRoot);
  }

  #root(): string | null {
    const persist = this.#deps.persist();
    if (persist === 'off') return null;
    return persist === 'disk' ? this.#diskRoot : this.#memoryRoot;
  }

  #maxBytes(): number {
    if (this.#deps.persist() === 'disk') return this.#deps.maxDiskBytes();
    const { bsize, bavail } = statfsSync(this.#sharedMemory);
    const share = Math.floor(MEMORY_SHARE * this.#deps.memoryBytes());
    return Math.max(1, Math.min(share, bavail * bsize + this.reclaimableBytes()));
  }

  #problem(): string | null {
    if (this.#deps.persist() !== 'memory') return null;
    try {
      if (statfsSync(this.#sharedMemory).type === TMPFS_MAGIC) return null;
    } catch {
      // The same as another file system.
    }
    return `${this.#sharedMemory} is not a file system in memory, so that nothing is saved.`;
  }

  #remove(folder: string): void {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code;
      this.#deps.log.warn({ reason }, 'saved states of conversations could not be deleted');
    }
  }
}

const sumOf = (states: readonly StateFile[]): number => states.reduce((sum, { bytes }) => sum + bytes, 0);

/** Deletes the folders in memory of gateways of this user that have ended. */
function removeAbandoned(sharedMemory: string): void {
  for (const name of namesIn(sharedMemory)) {
    const [, pid, startTicks] = MEMORY_FOLDER.exec(name) ?? [];
    if (pid === undefined || startTicks === undefined) continue;
    const folder = join(sharedMemory, name);
    if (startTicksOf(Number(pid)) === Number(startTicks) || !isPrivateFolder(folder)) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
