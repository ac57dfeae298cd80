import { createHash, randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { chmod, type FileHandle, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { MIN_STATE_TOKENS } from '../../contract/conversation-state.ts';
import type { LaunchFor } from '../engines/engine.ts';
import type { KvCache } from '../kv-cache/kv-cache.ts';
import { hasOwnSavePath, SAVE_PATH_OPTION } from '../kv-cache/slot-conversations.ts';
import { checksum, isIntact } from '../kv-cache/state-checksum.ts';
import {
  deleteState,
  ensurePrivateFolder,
  makeSpace,
  statePaths,
  statesIn,
  sweepIncomplete,
  tempPath,
  touchState,
} from '../kv-cache/state-files.ts';
import { MAX_STATE_BYTES } from '../kv-cache/state-limits.ts';
import type { QueryEngine } from '../lifecycle/health.ts';
import { modelDigest } from '../workers/llama/model-digest.ts';
import {
  isContinued,
  readStateDescription,
  stateDescriptionText,
} from '../workers/llama/state-description.ts';
import type { KvCacheConfig } from '../workers/protocol.ts';
import { programHelp } from './program-help.ts';
import type { Endpoint } from './runner.ts';
import { SizeLimit, StateTooLarge } from './size-limit.ts';

/** Time limit for one request of a saved state, in milliseconds. */
const REQUEST_MS = 20_000;
/** An option of every llama-server. A help without it belongs to another program, such as a wrapper. */
const KNOWN_OPTION = '--ctx-size';

export interface SavedSequencesDeps {
  readonly launch: LaunchFor<'process'>;
  /** Absolute path of the program. */
  readonly program: string;
  readonly query: QueryEngine;
  readonly kvCache: Pick<KvCache, 'configFor' | 'restored' | 'notSaved' | 'isSaved'>;
  note(line: string): void;
  /** Ends the start. */
  readonly signal: AbortSignal;
  /** Returns the help of the program; default by running it. */
  readonly help?: typeof programHelp;
}

interface Fingerprint {
  readonly model: string;
  readonly settings: string;
}

/** What llama-server says about a saved or restored sequence. */
interface SlotResult {
  readonly tokens: number;
  readonly bytes: number;
}

/**
 * The conversations of one llama-server, which it writes to files before it ends and reads when it has started
 * (docs/spec/contract.md#kv-cache). The program finds the conversation that a request continues. Nothing is saved by a
 * build that cannot read back what it wrote. Never rejects: what cannot be used is deleted and computed again.
 */
export class SavedSequences {
  readonly #deps: SavedSequencesDeps;
  readonly #config: KvCacheConfig;
  #fingerprint: Fingerprint | null = null;
  #isProven = false;

  private constructor(deps: SavedSequencesDeps, config: KvCacheConfig) {
    this.#deps = deps;
    this.#config = config;
  }

  /**
   * Resolves with null when the engine has no conversations, when they are not saved, and for a build without the
   * option, which would not start with it.
   */
  static async open(deps: SavedSequencesDeps): Promise<SavedSequences | null> {
    const { launch, program, kvCache, signal, help = programHelp } = deps;
    const { args, env, savesSequences = false } = launch.how;
    const isOwn = hasOwnSavePath(args, env, launch.env);
    const config = savesSequences && !isOwn ? kvCache.configFor(launch.modelId) : null;
    if (config === null) return null;
    const options = await help(program, { env: { ...env, ...launch.env }, signal });
    if (options?.includes(KNOWN_OPTION) && !options.includes(SAVE_PATH_OPTION)) {
      const reason = `This build of llama-server has no ${SAVE_PATH_OPTION}.`;
      deps.note(reason);
      kvCache.notSaved(launch.slot, launch.modelId, reason);
      return null;
    }
    if (!ensurePrivateFolder(config.folder)) return null;
    sweepIncomplete(config.folder);
    return new SavedSequences(deps, config);
  }

  /** Arguments that let the program write states. */
  get args(): readonly string[] {
    return [SAVE_PATH_OPTION, this.#config.folder];
  }

  /**
   * Proves with the sequence of the checks that the program restores what it saved, then restores the newest
   * conversations. Call it once after the checks.
   */
  async restore(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    const { launch, kvCache, note } = this.#deps;
    try {
      await this.#prove(endpoint, signal);
      this.#isProven = true;
      kvCache.isSaved(launch.slot);
    } catch (error) {
      if (signal.aborted) return;
      const reason = `This llama-server cannot restore conversations: ${(error as Error).message}.`;
      note(reason);
      kvCache.notSaved(launch.slot, launch.modelId, reason);
      return;
    }
    const digest = await this.#readFingerprint().catch(() => null);
    if (digest === null) return;
    const own = statesIn(this.#config.folder).sort((a, b) => b.usedAt - a.usedAt);
    let sequence = 0;
    for (const { folder, id } of own) {
      if (signal.aborted || sequence >= launch.parallel) return;
      const description = readStateDescription(statePaths(folder, id).description);
      if (description?.settings !== digest.settings) continue;
      try {
        if (description.model !== digest.model) throw new Error('the model file has changed');
        if (!(await isIntact(statePaths(folder, id).state, description)))
          throw new Error('its file is damaged');
        const { tokens } = await this.#act(endpoint, { sequence, action: 'restore', id, signal });
        touchState(folder, id);
        kvCache.restored(tokens);
        note(`restored a conversation of ${tokens} tokens`);
        sequence += 1;
      } catch (error) {
        if (signal.aborted) return;
        note(`a saved conversation could not be restored: ${(error as Error).message}`);
        deleteState(folder, id);
      }
    }
  }

  /**
   * Saves the conversations of an engine that is about to end, for at most `limitMs`. A save that is interrupted leaves
   * no state. Returns false when a state exceeds the limit: the engine goes on writing it until it is killed.
   */
  async save(endpoint: Endpoint, limitMs: number): Promise<boolean> {
    const { launch, note } = this.#deps;
    const signal = AbortSignal.timeout(Math.floor(limitMs));
    const digest = this.#isProven ? await this.#readFingerprint().catch(() => null) : null;
    if (digest === null) return true;
    for (let sequence = 0; sequence < launch.parallel && !signal.aborted; sequence++) {
      // The root folder is gone when the owner turned the feature off, or when the gateway ends.
      if (!existsSync(this.#config.root) || !ensurePrivateFolder(this.#config.folder)) return true;
      try {
        await this.#saveOne(endpoint, { sequence, digest, signal });
      } catch (error) {
        note(`a conversation could not be saved: ${(error as Error).message}`);
        if (error instanceof StateTooLarge) return false;
      }
    }
    return true;
  }

  async #prove(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    const id = randomBytes(8).toString('hex');
    const { state } = statePaths(this.#config.folder, id);
    try {
      for (let sequence = 0; sequence < this.#deps.launch.parallel; sequence++) {
        const saved = await this.#act(endpoint, { sequence, action: 'save', id, signal });
        if (saved.tokens === 0) continue;
        const restored = await this.#act(endpoint, { sequence, action: 'restore', id, signal });
        if (restored.tokens === saved.tokens) return;
        throw new Error(`it saved ${saved.tokens} tokens and restored ${restored.tokens}`);
      }
      throw new Error('it saved no tokens of a request');
    } finally {
      await rm(state, { force: true });
    }
  }

  async #saveOne(
    endpoint: Endpoint,
    { sequence, digest, signal }: { sequence: number; digest: Fingerprint; signal: AbortSignal },
  ): Promise<void> {
    const { root, folder, maxBytes } = this.#config;
    const id = randomBytes(16).toString('hex');
    const paths = statePaths(folder, id);
    const [temp, tempText] = [tempPath(paths.state), tempPath(paths.description)];
    const limit = new SizeLimit(temp, Math.min(maxBytes, MAX_STATE_BYTES));
    try {
      const either = AbortSignal.any([signal, limit.signal]);
      const saved = await this.#act(endpoint, {
        sequence,
        action: 'save',
        id: basename(temp),
        signal: either,
      });
      const { size: bytes } = await stat(temp);
      if (saved.tokens < MIN_STATE_TOKENS || bytes > limit.maxBytes) return;
      await chmod(temp, 0o600);
      makeSpace(root, this.#config, bytes);
      const tokens = (await tokensIn(temp, saved.tokens)) ?? Uint32Array.of(saved.tokens);
      const text = stateDescriptionText({ ...digest, tokens, bytes, crc32: await checksum(temp) });
      await writeFile(tempText, text, { flag: 'wx', mode: 0o600 });
      await rename(temp, paths.state);
      await rename(tempText, paths.description);
      this.#deleteContinued(id, tokens, digest);
    } catch (error) {
      throw limit.signal.aborted ? limit.signal.reason : error;
    } finally {
      limit.close();
      for (const path of [temp, tempText]) await rm(path, { force: true });
    }
  }

  /** Deletes older states of the same conversation. */
  #deleteContinued(saved: string, tokens: Uint32Array, digest: Fingerprint): void {
    for (const { folder, id } of statesIn(this.#config.folder)) {
      const older = id === saved ? null : readStateDescription(statePaths(folder, id).description);
      if (older?.settings === digest.settings && isContinued(older.tokens, tokens)) deleteState(folder, id);
    }
  }

  /** Saves or restores one sequence. Rejects with the reason. */
  async #act(
    endpoint: Endpoint,
    {
      sequence,
      action,
      id,
      signal,
    }: { sequence: number; action: 'save' | 'restore'; id: string; signal: AbortSignal },
  ): Promise<SlotResult> {
    const filename = id.includes('.') ? id : basename(statePaths('', id).state);
    const path = `/slots/${sequence}?action=${action}`;
    const query = { method: 'POST', path, body: { filename }, limitMs: REQUEST_MS } as const;
    const { status, body } = await this.#deps.query(endpoint, query, signal);
    if (status !== 200) throw new Error(`${action} answered with status ${status}`);
    const result = JSON.parse(body) as Record<string, unknown>;
    const [tokens, bytes] =
      action === 'save' ? [result.n_saved, result.n_written] : [result.n_restored, result.n_read];
    if (typeof tokens !== 'number' || typeof bytes !== 'number')
      throw new Error(`${action} answered without the number of tokens`);
    return { tokens, bytes };
  }

  /** Everything that changes a state or its format: the model file, the program and its arguments. */
  async #readFingerprint(): Promise<Fingerprint> {
    const { launch, program } = this.#deps;
    const { size, mtimeMs } = statSync(program);
    // The number of threads depends on what else is loaded.
    const args = launch.how.args.filter((_, index, all) => ![all[index - 1], all[index]].includes('-t'));
    const settings = JSON.stringify([program, size, mtimeMs, args, launch.how.env, launch.env]);
    this.#fingerprint ??= {
      model: await modelDigest(launch.modelPath ?? ''),
      settings: createHash('sha256').update(settings).digest('hex'),
    };
    return this.#fingerprint;
  }
}

/** Start of a state file of llama.cpp: magic number, version, number of tokens, tokens. */
const STATE_MAGIC = 0x67677371;
const HEADER_BYTES = 12;

/** Returns the tokens of a state file; null when it has another format. */
async function tokensIn(path: string, count: number): Promise<Uint32Array | null> {
  const file = await open(path, 'r');
  try {
    const header = await readAt(file, 0, HEADER_BYTES);
    if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== STATE_MAGIC) return null;
    if (header.readUInt32LE(8) !== count) return null;
    const tokens = await readAt(file, HEADER_BYTES, count * Uint32Array.BYTES_PER_ELEMENT);
    return tokens.length === count * Uint32Array.BYTES_PER_ELEMENT ? words(tokens) : null;
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

const words = (bytes: Buffer): Uint32Array =>
  Uint32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4));
