import { basename, dirname } from 'node:path';
import type { MountGuard } from '../lib/fs/mount-guard.ts';
import type { Log } from '../lib/log.ts';
import { FolderIdentities } from './folder-identities.ts';
import { modelId, uniqueId } from './model-id.ts';
import { modelOfFile } from './model-of-file.ts';
import type { ModelStore } from './model-store.ts';
import { fileState, isWithin } from './path-state.ts';
import { projectorOf } from './projector-of.ts';
import type { MetadataReader, ModelMetadata } from './read-metadata-in-child.ts';
import { HEADER_VERSION, type ModelSource, type RegisteredModel } from './registered-model.ts';
import {
  type FoundFile,
  findModelOrThrow,
  isOnnxFile,
  SCAN_LIMITS,
  type ScanResult,
  scanFolders,
} from './scan.ts';
import { findSiblings, type SiblingFiles } from './sibling-files.ts';
import { splitName } from './split-files.ts';
import { adviceFor } from './unusable-formats.ts';
import type { WatchedPaths } from './watch-folders.ts';

export interface ModelProblem {
  /** Name of the file, after that of its folder where it helps, or the folder that the operator configured. */
  file: string;
  reason: string;
  /** What to do. Null when nothing is known. */
  advice: string | null;
}

/** The result of one scan. */
interface FolderSnapshot {
  /** All files that may be models or projectors. */
  readonly present: readonly FoundFile[];
  /** Paths of those files that were registered by path, outside the model folders. */
  readonly named: ReadonlySet<string>;
  /** The other files in their folders. */
  readonly siblings: SiblingFiles;
  /** Folders that did not respond completely. Files in them may exist. */
  readonly unresponsive: readonly string[];
  readonly refusedBefore: ReadonlyMap<string, Refusal>;
}

interface Refusal {
  file: FoundFile;
  reason: string;
  /** True for a projector, which is no model and no problem. */
  projector: boolean;
  /** True when the file could not be read, which may be temporary. */
  isTransient: boolean;
  /** Number of consecutive refusals of the unchanged file. */
  tries: number;
}

/**
 * A file at which the header reader was ended is tried again. After that it is read only when it has changed.
 */
const MAX_TRIES = 2;

/** What is known of a model in addition to its files. */
export type Origin = Partial<Pick<RegisteredModel, 'repo' | 'revision' | 'sha256' | 'licence'>>;

export interface FolderSyncDeps {
  modelStore: ModelStore;
  log: Log;
  /** The current model folders. */
  folders(): readonly string[];
  /** A folder that may be missing without a problem. */
  optional: string;
  /** Returns whether a file is registered in another way. */
  isExcluded(path: string): boolean;
  /** Returns whether an engine serves a model. It stays while its folder is away. */
  isLoaded(id: string): boolean;
  mountGuard: MountGuard;
  readMetadata: MetadataReader;
  signal: AbortSignal;
}

/** Maximum files of one model folder that are watched, besides its folders. */
const MAX_WATCHED = 512;

const folderAdvice = (reason: string): string | null =>
  reason === 'ENOENT'
    ? 'Create or mount the folder, or remove it from [models] folders. Then run: svcctl models scan'
    : adviceFor(`(${reason})`);

const unchanged = (file: FoundFile, known: { sizeBytes: number; mtimeS: number } | undefined) =>
  known !== undefined && known.sizeBytes === file.sizeBytes && known.mtimeS === file.mtimeS;

/** Returns where a known model came from. */
const originOf = (known: RegisteredModel | undefined): Origin | undefined =>
  known && { repo: known.repo, revision: known.revision, sha256: known.sha256, licence: known.licence };

/** Returns whether a model has all fields of its unchanged file. */
export const isCurrent = (file: FoundFile, known: RegisteredModel | undefined): known is RegisteredModel =>
  unchanged(file, known) && known?.headerVersion === HEADER_VERSION;

/** Returns whether another read of the same file would be refused again. */
const isStillRefused = (file: FoundFile, refusal: Refusal | undefined): refusal is Refusal =>
  refusal !== undefined &&
  !refusal.isTransient &&
  unchanged(file, refusal.file) &&
  file.ctimeMs === refusal.file.ctimeMs;

/** Returns what changes when a scan would find something else. The states of files are those that the scan read. */
function watchedPaths({ folders, files }: ScanResult): Map<string, WatchedPaths> {
  return new Map(
    [...folders].map(([folder, states]) => {
      const own = files.filter(({ path }) => isWithin(folder, path) && !states.has(path));
      // The sizes of split models are sums, and every part that is added changes its folder.
      const single = own.filter(({ path }) => splitName(path) === null && !isOnnxFile(path));
      const watched = single.slice(0, MAX_WATCHED).map((file) => [file.path, fileState(file)] as const);
      return [folder, new Map([...states, ...watched])];
    }),
  );
}

/**
 * Keeps the model store in sync with the model folders. Reads a file's header only when the file has changed.
 */
export class FolderSync {
  readonly #deps: FolderSyncDeps;
  #refused = new Map<string, Refusal>();
  #folderProblems: ModelProblem[] = [];
  #unusable: readonly ModelProblem[] = [];
  #watched: ReadonlyMap<string, WatchedPaths> = new Map();
  readonly #identities = new FolderIdentities();
  /** Loaded models whose folders are away. */
  readonly #retained = new Set<string>();

  constructor(deps: FolderSyncDeps) {
    this.#deps = deps;
  }

  problems(): ModelProblem[] {
    const bad = [...this.#refused.values()].filter(({ projector }) => !projector);
    const files = bad.map(({ file, reason }) => ({
      file: basename(file.path),
      reason,
      advice: adviceFor(reason),
    }));
    return [...this.#folderProblems, ...files, ...this.#unusable];
  }

  /** Returns whether a model stayed because it was loaded, and is not loaded any longer. */
  hasUnloaded(): boolean {
    return [...this.#retained].some((id) => !this.#deps.isLoaded(id));
  }

  /** Returns the folders and files of the last scan with their states, by model folder. */
  watched(): ReadonlyMap<string, WatchedPaths> {
    return this.#watched;
  }

  /**
   * Adds a model to the store: under its existing id, else under a free one derived from its file name.
   * Without an origin the same file keeps its origin, which may have been added while its header was read.
   */
  register(source: ModelSource, file: FoundFile, metadata: ModelMetadata, origin?: Origin): RegisteredModel {
    const { modelStore } = this.#deps;
    const known = modelStore.byPath(file.path);
    if (origin === undefined && isCurrent(file, known)) return known;
    if (known === undefined) this.#forgetAbsentAt(file.path);
    const id = known?.id ?? uniqueId(modelId(file.path), (candidate) => this.#isTaken(candidate, file));
    const model = modelOfFile(id, source, file, metadata);
    const from = origin ?? (unchanged(file, known) ? originOf(known) : undefined);
    return modelStore.put({ ...model, ...from, licence: from?.licence ?? model.licence });
  }

  /** The id of an absent model stays reserved, unless this is its file at another path. */
  #isTaken(id: string, file: FoundFile): boolean {
    const { modelStore } = this.#deps;
    if (modelStore.get(id) !== undefined) return true;
    const absent = modelStore.absent().find((model) => model.id === id);
    return absent !== undefined && absent.sizeBytes !== file.sizeBytes;
  }

  /** Runs a disk operation for a path. Rejects with DiskTimeout when the disk does not respond. */
  runOnDisk<T>(path: string, question: () => Promise<T>): Promise<T> {
    const { folders, mountGuard } = this.#deps;
    return mountGuard.run(folders().find((folder) => isWithin(folder, path)) ?? dirname(path), question);
  }

  /** Returns the model at a path; `unknown` when the disk does not respond. */
  #inspect(path: string): Promise<FoundFile | null | 'unknown'> {
    return this.runOnDisk(path, () => findModelOrThrow(path)).catch(() => 'unknown' as const);
  }

  #missedAt(path: string): RegisteredModel | undefined {
    return this.#deps.modelStore.absent().find(({ files }) => files.includes(path));
  }

  /** Removes the absent model at this path when another model replaces it. */
  #forgetAbsentAt(path: string): void {
    const missed = this.#missedAt(path);
    if (missed !== undefined) this.#deps.modelStore.remove(missed.id);
  }

  /**
   * Restores the absent model whose unchanged file this is. For another file, records one more failed search.
   */
  restore(file: FoundFile): RegisteredModel | undefined {
    const { modelStore } = this.#deps;
    const missed = this.#missedAt(file.path);
    if (missed === undefined) return undefined;
    if (unchanged(file, missed)) return modelStore.restore(missed.id);
    modelStore.markMissing(missed.id);
    return undefined;
  }

  /**
   * Removes models whose files are gone and restores those that were registered by path and are back. Returns
   * the files found at registered paths.
   */
  async dropVanished(): Promise<FoundFile[]> {
    const { modelStore } = this.#deps;
    const named = modelStore.absent().filter(({ source }) => source !== 'scan');
    // Models without files are managed by their program.
    const filed = [...modelStore.list(), ...named].filter(({ files }) => files.length > 0);
    const places: FoundFile[] = [];
    for (const model of filed) {
      const found = await this.#inspect(model.path);
      if (found === 'unknown') continue;
      if (found === null) {
        this.#markMissing(model);
        continue;
      }
      this.restore(found);
      if (model.source === 'register') places.push(found);
    }
    return places;
  }

  /**
   * Removes the model. A demonstration or program model is registered again by its source; any other is
   * marked missing unless it is loaded and its folder is away.
   */
  #markMissing({ id, source, path }: RegisteredModel): void {
    if (source === 'demo' || source === 'program') this.#deps.modelStore.remove(id);
    else this.#miss(id, path);
  }

  #miss(id: string, path: string): void {
    const { modelStore, isLoaded } = this.#deps;
    const isRetained = this.#identities.isAway(path) && modelStore.get(id) !== undefined && isLoaded(id);
    if (isRetained) this.#retained.add(id);
    else modelStore.markMissing(id);
  }

  /** Removes scanned models that this scan did not find, except in folders that did not respond. */
  async #dropUnlisted(present: ReadonlySet<string>, unresponsive: readonly string[]): Promise<void> {
    const { modelStore, folders } = this.#deps;
    const within = (path: string) => folders().some((folder) => isWithin(folder, path));
    const unseen = [...modelStore.list(), ...modelStore.absent()].filter(
      ({ source, path }) => source === 'scan' && !present.has(path),
    );
    for (const { id, path } of unseen) {
      if (unresponsive.some((folder) => isWithin(folder, path))) continue;
      const found = await this.#inspect(path);
      if (found === 'unknown' && within(path)) continue;
      this.#miss(id, path);
    }
  }

  async sync(): Promise<void> {
    const { modelStore, log, folders, isExcluded, mountGuard, signal } = this.#deps;
    const scan = await scanFolders(folders(), SCAN_LIMITS, mountGuard);
    const { files, problems, unresponsive, unusable } = scan;
    if (signal.aborted) return;
    this.#watched = watchedPaths(scan);
    this.#identities.update(scan);
    this.#retained.clear();
    this.recordFolderProblems(problems);
    this.#recordUnusable(unusable);
    const scanned = files.filter(({ path }) => !isExcluded(path));
    const snapshot = await this.#withNamed(scanned, unresponsive);
    this.#refused = new Map();
    const due: FoundFile[] = [];
    for (const file of snapshot.present) {
      if (isCurrent(file, this.restore(file) ?? modelStore.byPath(file.path))) continue;
      const refusal = snapshot.refusedBefore.get(file.path);
      if (isStillRefused(file, refusal)) this.#refused.set(file.path, refusal);
      else due.push(file);
    }
    await this.#readAll(due, snapshot);
    this.#attachProjectors(snapshot);
    log.debug(
      { models: modelStore.list().length, read: due.length, refused: this.#refused.size },
      'model folders scanned',
    );
  }

  /** Adds the models at registered paths and removes models that no longer exist anywhere. */
  async #withNamed(scanned: readonly FoundFile[], unresponsive: readonly string[]): Promise<FolderSnapshot> {
    const paths = new Set(scanned.map(({ path }) => path));
    await this.#dropUnlisted(paths, unresponsive);
    const named = (await this.dropVanished()).filter(({ path }) => !paths.has(path));
    const unanswered: string[] = [];
    const siblings = await findSiblings(
      named.map(({ path }) => path),
      (path, question) =>
        this.runOnDisk(path, question).catch((error: unknown) => {
          unanswered.push(dirname(path));
          throw error;
        }),
    );
    const projectors = siblings.projectors.filter(({ path }) => !paths.has(path));
    return {
      present: [...scanned, ...named, ...projectors],
      named: new Set(named.map(({ path }) => path)),
      siblings: { ...siblings, projectors },
      unresponsive: [...unresponsive, ...unanswered],
      refusedBefore: this.#refused,
    };
  }

  /**
   * Attaches a projector to the model in the same folder. A model that was not found, or whose disk did not
   * respond, keeps its projector.
   */
  #attachProjectors({ present, siblings, unresponsive }: FolderSnapshot): void {
    const { modelStore } = this.#deps;
    const met = new Set(present.map(({ path }) => path));
    const found = [...this.#refused.values()].filter(({ projector }) => projector);
    const projectors = found.map(({ file }) => file.path);
    const chat = modelStore.list().filter(({ type, format }) => type === 'llm' && format === 'gguf');
    const paths = [...chat.map(({ path }) => path), ...siblings.models];
    const answered = (path: string) =>
      met.has(path) && !unresponsive.some((folder) => isWithin(folder, path));
    for (const { id, path } of chat.filter((model) => answered(model.path))) {
      const projectorPath = projectorOf(path, paths, projectors);
      const bytes = found.find(({ file }) => file.path === projectorPath)?.file.sizeBytes ?? null;
      modelStore.change(id, { projectorPath, projectorBytes: bytes, projector: projectorPath !== null });
    }
  }

  recordFolderProblems(problems: readonly { folder: string; reason: string }[]): void {
    const { log, optional } = this.#deps;
    const worth = problems.filter(({ folder, reason }) => !(folder === optional && reason === 'ENOENT'));
    const answered = new Set(this.#folderProblems.map(({ file, reason }) => `${file}\n${reason}`));
    this.#folderProblems = worth.map(({ folder, reason }) => ({
      file: folder,
      reason,
      advice: folderAdvice(reason),
    }));
    for (const { file, reason } of this.#folderProblems) {
      if (!answered.has(`${file}\n${reason}`))
        log.warn({ folder: file, reason }, 'a model folder cannot be scanned');
    }
  }

  #recordUnusable(unusable: readonly ModelProblem[]): void {
    const known = new Set(this.#unusable.map(({ file }) => file));
    this.#unusable = unusable;
    for (const { file, reason, advice } of unusable)
      if (!known.has(file))
        this.#deps.log.warn({ file, reason, advice }, 'a file in a model folder cannot be used');
  }

  async #readAll(
    due: readonly FoundFile[],
    { named, siblings, refusedBefore }: FolderSnapshot,
  ): Promise<void> {
    const { modelStore, log, signal, readMetadata } = this.#deps;
    const siblingOnly = new Set(siblings.projectors.map(({ path }) => path));
    const outcomes = await readMetadata(
      due.map(({ path }) => path),
      signal,
    );
    if (signal.aborted) return;
    outcomes.forEach((outcome, index) => {
      const file = due[index] as FoundFile;
      const known = modelStore.byPath(file.path);
      if ('metadata' in outcome) {
        const source = known?.source ?? (named.has(file.path) ? 'register' : 'scan');
        if (!siblingOnly.has(file.path) || known !== undefined) this.register(source, file, outcome.metadata);
        return;
      }
      // The file may have been read by another call in the meantime.
      if (unchanged(file, known)) return;
      if (known !== undefined) this.#markMissing(known);
      const { reason, projector = false, ended = false } = outcome;
      const earlier = refusedBefore.get(file.path);
      const tries = unchanged(file, earlier?.file) ? (earlier?.tries ?? 0) + 1 : 1;
      const isTransient = outcome.passing && !(ended && tries >= MAX_TRIES);
      this.#refused.set(file.path, { file, reason, projector, isTransient, tries });
      if (projector || (reason === earlier?.reason && tries > 1)) return;
      log.warn(
        { file: basename(file.path), reason: outcome.reason },
        'a file in a model folder is not a usable model',
      );
    });
  }
}
