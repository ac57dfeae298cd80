import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import type { ComputedReason } from '../../../contract/conversation-reasons.ts';
import { MIN_STATE_TOKENS } from '../../../contract/conversation-state.ts';
import { checksum, isIntact } from '../../kv-cache/state-checksum.ts';
import {
  deleteState,
  ensurePrivateFolder,
  makeSpace,
  statePaths,
  statesIn,
  sweepIncomplete,
  tempPath,
  touchState,
} from '../../kv-cache/state-files.ts';
import { MAX_STATE_BYTES } from '../../kv-cache/state-limits.ts';
import type { KvCacheConfig } from '../protocol.ts';
import {
  isContinued,
  readStateDescription,
  type StateDescription,
  type StateFingerprint,
  sharedLength,
  stateDescriptionText,
} from './state-description.ts';

/** A state must save at least this many tokens of the prompt. */
const MIN_GAIN_TOKENS = 128;
/** Maximum number of states of another model file or of other settings that explain why a prompt is computed. */
const MAX_UNUSABLE = 16;

/** A sequence whose state can be written to a file and read from it. */
export interface StatefulSequence {
  /** The tokens of its state. */
  readonly tokens: readonly number[];
  /** True when only the whole state can be used: sliding windows and recurrent states cannot go back. */
  readonly mustMatchWhole: boolean;
  /** Returns the number of leading tokens that it shares with `tokens`. */
  shared(tokens: readonly number[]): number;
  /** Removes what is in the state but not among its tokens. */
  settle(): Promise<void>;
  saveState(path: string): Promise<void>;
  /** Rejects for a state that does not fit. The sequence is empty then. */
  loadState(path: string): Promise<void>;
  reset(): Promise<void>;
}

/** A restored state. */
export interface Restored {
  readonly tokens: number;
  readonly bytes: number;
  readonly from: 'memory' | 'disk';
}

/** A state that exists and cannot be used. */
interface Unusable {
  readonly tokens: Uint32Array;
  readonly reason: ComputedReason;
}

/**
 * The saved states of conversations with one model (docs/spec/contract.md#kv-cache). A state is used only with the model
 * file and the settings that it was computed with. Never rejects: what cannot be read is deleted and computed again.
 */
export class StateStore {
  readonly #config: KvCacheConfig;
  readonly #fingerprint: StateFingerprint;
  readonly #known = new Map<string, StateDescription>();
  readonly #unusable: Unusable[] = [];

  private constructor(config: KvCacheConfig, fingerprint: StateFingerprint) {
    this.#config = config;
    this.#fingerprint = fingerprint;
  }

  /** Reads the descriptions of all states of the model. Deletes those of another file under the same name. */
  static open(config: KvCacheConfig, fingerprint: StateFingerprint): StateStore {
    const store = new StateStore(config, fingerprint);
    sweepIncomplete(config.folder);
    for (const { folder, id } of statesIn(config.folder)) {
      const description = readStateDescription(statePaths(folder, id).description);
      if (description?.model !== fingerprint.model) deleteState(folder, id);
      if (description === null) continue;
      if (description.model !== fingerprint.model) store.#addUnusable(description.tokens, 'model_changed');
      else if (description.settings !== fingerprint.settings)
        store.#addUnusable(description.tokens, 'settings_changed');
      else store.#known.set(id, description);
    }
    return store;
  }

  /**
   * Loads the state that saves most of the prompt into the sequence. Returns the state, or why none is used: it would
   * save too little, does not belong to this model and its settings, or is damaged.
   */
  async restore(sequence: StatefulSequence, tokens: readonly number[]): Promise<Restored | ComputedReason> {
    if (tokens.length < MIN_STATE_TOKENS) return 'too_short';
    const id = this.#best(sequence, tokens);
    if (id === null) return this.#whyNone(sequence, tokens);
    const description = this.#known.get(id) as StateDescription;
    const { state } = statePaths(this.#config.folder, id);
    try {
      if (!(await isIntact(state, description))) throw new Error('the file has changed');
      await sequence.loadState(state);
      if (sequence.shared(Array.from(description.tokens)) !== description.tokens.length)
        throw new Error('the file has other tokens');
      touchState(this.#config.folder, id);
      const from = this.#config.survivesRestart ? 'disk' : 'memory';
      return { tokens: description.tokens.length, bytes: description.bytes, from };
    } catch {
      this.#forget(id);
      await sequence.reset();
      return 'damaged';
    }
  }

  /**
   * Saves the states of all sequences that are long enough, within the limits. Does nothing once the root folder is
   * gone, which is how the gateway turns the feature off for running engines.
   */
  async save(sequences: readonly StatefulSequence[], totalBytes: number): Promise<void> {
    const { root, folder } = this.#config;
    for (const sequence of sequences) await sequence.settle().catch(() => sequence.reset());
    const used = sequences.map(({ tokens }) => tokens.length).reduce((sum, length) => sum + length, 0);
    for (const sequence of sequences) {
      const tokens = Uint32Array.from(sequence.tokens);
      if (tokens.length < MIN_STATE_TOKENS || !existsSync(root) || !ensurePrivateFolder(folder)) continue;
      const bytes = Math.ceil((totalBytes * tokens.length) / used);
      await this.#saveOne(sequence, tokens, bytes).catch(() => undefined);
    }
  }

  async #saveOne(sequence: StatefulSequence, tokens: Uint32Array, estimatedBytes: number): Promise<void> {
    const { root, folder, maxBytes } = this.#config;
    const id = this.#idOf(tokens);
    if (this.#known.has(id)) return touchState(folder, id);
    if (estimatedBytes > Math.min(maxBytes, MAX_STATE_BYTES)) return;
    makeSpace(root, this.#config, estimatedBytes);
    const paths = statePaths(folder, id);
    const temp = tempPath(paths.state);
    const tempText = tempPath(paths.description);
    try {
      // Created first, because the engine would create it with the rights of its umask.
      await writeFile(temp, '', { flag: 'wx', mode: 0o600 });
      await sequence.saveState(temp);
      const { size: bytes } = await stat(temp);
      const description = { ...this.#fingerprint, tokens, bytes, crc32: await checksum(temp) };
      await writeFile(tempText, stateDescriptionText(description), { flag: 'wx', mode: 0o600 });
      await rename(temp, paths.state);
      await rename(tempText, paths.description);
      for (const [older, description] of this.#known)
        if (isContinued(description.tokens, tokens)) this.#forget(older);
    } finally {
      for (const path of [temp, tempText]) await rm(path, { force: true });
    }
  }

  #idOf(tokens: Uint32Array): string {
    const { model, settings } = this.#fingerprint;
    const bytes = new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength);
    return createHash('sha256').update(`${model} ${settings} `).update(bytes).digest('hex').slice(0, 32);
  }

  #best(sequence: StatefulSequence, tokens: readonly number[]): string | null {
    let best: string | null = null;
    let most = sequence.shared(tokens) + MIN_GAIN_TOKENS - 1;
    for (const [id, { tokens: saved }] of this.#known) {
      const shared = sharedLength(saved, tokens);
      if (sequence.mustMatchWhole && (shared < saved.length || tokens.length === saved.length)) continue;
      if (shared <= most) continue;
      best = id;
      most = shared;
    }
    return best;
  }

  /** Returns why no state is used for a prompt. */
  #whyNone(sequence: StatefulSequence, tokens: readonly number[]): ComputedReason {
    const wouldSave = (saved: Uint32Array) => sharedLength(saved, tokens) >= MIN_GAIN_TOKENS;
    if (sequence.mustMatchWhole && [...this.#known.values()].some((each) => wouldSave(each.tokens)))
      return 'changed_earlier';
    return this.#unusable.find((each) => wouldSave(each.tokens))?.reason ?? 'no_saved_prefix';
  }

  #addUnusable(tokens: Uint32Array, reason: ComputedReason): void {
    if (this.#unusable.length < MAX_UNUSABLE) this.#unusable.push({ tokens, reason });
  }

  #forget(id: string): void {
    this.#known.delete(id);
    deleteState(this.#config.folder, id);
  }
}
