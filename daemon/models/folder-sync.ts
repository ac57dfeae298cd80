import { basename, dirname, join, sep } from 'node:path';
import type { MountGuard } from '../lib/fs/mount-guard.ts';
import type { Log } from '../lib/log.ts';
import { modelId, uniqueId } from './model-id.ts';
import { modelOfFile } from './model-of-file.ts';
import type { ModelStore } from './model-store.ts';
import { projectorOf } from './projector-of.ts';
import { type ModelFacts, readFactsInChild } from './read-facts-in-child.ts';
import type { ModelSource, RegisteredModel } from './registered-model.ts';
import { type FoundFile, findModelOrThrow, SCAN_LIMITS, scanFolders } from './scan.ts';
import { findSiblings, type SiblingFiles } from './sibling-files.ts';

export interface ModelProblem {
  /** Base name of the file, or the folder that the operator named. */
  file: string;
  reason: string;
}

/** What one look has met. */
interface FolderSnapshot {
  /** All files that may be models or projectors. */
  readonly present: readonly FoundFile[];
  /** Paths of those of them that somebody has named, outside the model folders. */
  readonly named: ReadonlySet<string>;
  /** What lies beside those. */
  readonly siblings: SiblingFiles;
  /** Folders that did not answer to the end: what was not met there may be there. */
  readonly unresponsive: readonly string[];
  readonly refusedBefore: ReadonlyMap<string, Refusal>;
}

interface Refusal {
  file: FoundFile;
  reason: string;
  /** It is no model, and nothing is wrong with it. */
  projector: boolean;
  /** It could not be read, which may be over by the next look. */
  isTransient: boolean;
  /** How often in a row it was refused as it is. */
  tries: number;
}

/** A file at which the reader of headers was ended gets another chance; after that it is read when it has changed. */
const MAX_TRIES = 2;

/** What is known of a model beside its files. */
export type Origin = Partial<Pick<RegisteredModel, 'repo' | 'revision' | 'sha256' | 'licence'>>;

export interface FolderSyncDeps {
  modelStore: ModelStore;
  log: Log;
  /** Folders of the moment. */
  folders(): readonly string[];
  /** A folder that may be missing without being a problem. */
  optional: string;
  /** Files that are registered in another way. */
  isExcluded(path: string): boolean;
  mountGuard: MountGuard;
  signal: AbortSignal;
}

const isWithin = (folder: string, path: string) => path.startsWith(join(folder, sep));

const unchanged = (file: FoundFile, known: { sizeBytes: number; mtimeS: number } | undefined) =>
  known !== undefined && known.sizeBytes === file.sizeBytes && known.mtimeS === file.mtimeS;

/** Whether the same look at the same file would be refused again. */
const isStillRefused = (file: FoundFile, refusal: Refusal | undefined): refusal is Refusal =>
  refusal !== undefined &&
  !refusal.isTransient &&
  unchanged(file, refusal.file) &&
  file.ctimeMs === refusal.file.ctimeMs;

/** Keeps the modelStore equal to what lies in the model folders; a file's header is read only when the file has changed. */
export class FolderSync {
  readonly #deps: FolderSyncDeps;
  #refused = new Map<string, Refusal>();
  #folderProblems: ModelProblem[] = [];

  constructor(deps: FolderSyncDeps) {
    this.#deps = deps;
  }

  problems(): ModelProblem[] {
    const bad = [...this.#refused.values()].filter(({ projector }) => !projector);
    const files = bad.map(({ file, reason }) => ({
      file: basename(file.path),
      reason,
    }));
    return [...this.#folderProblems, ...files];
  }

  /**
   * Puts a model on the modelStore: under the id it has already, else under a free one made from its file name. Without an origin the
   * same file stays what it is: somebody who knows more of it may have put it there while its header was read.
   */
  register(source: ModelSource, file: FoundFile, facts: ModelFacts, origin?: Origin): RegisteredModel {
    const { modelStore } = this.#deps;
    const known = modelStore.byPath(file.path);
    if (origin === undefined && known !== undefined && unchanged(file, known)) return known;
    if (known === undefined) this.#forgetAbsentAt(file.path);
    const id = known?.id ?? uniqueId(modelId(file.path), (candidate) => this.#isTaken(candidate, file));
    const model = modelOfFile(id, source, file, facts);
    return modelStore.put({ ...model, ...origin, licence: origin?.licence ?? model.licence });
  }

  /** The id of an absent model stays with it, unless this is its file in another place. */
  #isTaken(id: string, file: FoundFile): boolean {
    const { modelStore } = this.#deps;
    if (modelStore.get(id) !== undefined) return true;
    const absent = modelStore.absent().find((model) => model.id === id);
    return absent !== undefined && absent.sizeBytes !== file.sizeBytes;
  }

  /** Puts a question about a path to its disk; rejects with DiskTimeout where that does not answer. */
  runOnDisk<T>(path: string, question: () => Promise<T>): Promise<T> {
    const { folders, mountGuard } = this.#deps;
    return mountGuard.run(folders().find((folder) => isWithin(folder, path)) ?? dirname(path), question);
  }

  /** What lies at a path; `unknown` where the disk does not tell. */
  #inspect(path: string): Promise<FoundFile | null | 'unknown'> {
    return this.runOnDisk(path, () => findModelOrThrow(path)).catch(() => 'unknown' as const);
  }

  #missedAt(path: string): RegisteredModel | undefined {
    return this.#deps.modelStore.absent().find(({ files }) => files.includes(path));
  }

  /** Another model in its place ends the wait for one that is absent. */
  #forgetAbsentAt(path: string): void {
    const missed = this.#missedAt(path);
    if (missed !== undefined) this.#deps.modelStore.remove(missed.id);
  }

  /** The model that was absent and whose file this is: it is on the modelStore again, as it was. It is missed again for another file. */
  restore(file: FoundFile): RegisteredModel | undefined {
    const { modelStore } = this.#deps;
    const missed = this.#missedAt(file.path);
    if (missed === undefined) return undefined;
    if (unchanged(file, missed)) return modelStore.restore(missed.id);
    modelStore.markMissing(missed.id);
    return undefined;
  }

  /**
   * Takes models whose file is gone off the modelStore, and puts back those that were named by a path and are there again. Answers what
   * lies in the places of those that were named.
   */
  async dropVanished(): Promise<FoundFile[]> {
    const { modelStore } = this.#deps;
    const named = modelStore.absent().filter(({ source }) => source !== 'scan');
    // One without files is the matter of the program that keeps it.
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

  /** What the gateway makes or asks programs for is put back by whoever put it there. */
  #markMissing({ id, source }: RegisteredModel): void {
    const { modelStore } = this.#deps;
    if (source === 'demo' || source === 'program') modelStore.remove(id);
    else modelStore.markMissing(id);
  }

  /** Takes those off the modelStore that a scan had found and that this one has not, but where it got no answer. */
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
      modelStore.markMissing(id);
    }
  }

  async sync(): Promise<void> {
    const { modelStore, log, folders, isExcluded, mountGuard, signal } = this.#deps;
    const { files, problems, unresponsive } = await scanFolders(folders(), SCAN_LIMITS, mountGuard);
    if (signal.aborted) return;
    this.recordFolderProblems(problems);
    const scanned = files.filter(({ path }) => !isExcluded(path));
    const snapshot = await this.#withNamed(scanned, unresponsive);
    this.#refused = new Map();
    const due: FoundFile[] = [];
    for (const file of snapshot.present) {
      if (unchanged(file, this.restore(file) ?? modelStore.byPath(file.path))) continue;
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

  /** Adds what lies where somebody has named a model, and takes off the modelStore what lies nowhere any more. */
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

  /** A projector that lies beside a model belongs to it. A model that was not met, or whose disk fell silent, keeps its own. */
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
    this.#folderProblems = worth.map(({ folder, reason }) => ({ file: folder, reason }));
    for (const { file, reason } of this.#folderProblems) {
      if (!answered.has(`${file}\n${reason}`))
        log.warn({ folder: file, reason }, 'a model folder can not be scanned');
    }
  }

  async #readAll(
    due: readonly FoundFile[],
    { named, siblings, refusedBefore }: FolderSnapshot,
  ): Promise<void> {
    const { modelStore, log, signal } = this.#deps;
    const siblingOnly = new Set(siblings.projectors.map(({ path }) => path));
    const outcomes = await readFactsInChild(
      due.map(({ path }) => path),
      signal,
    );
    if (signal.aborted) return;
    outcomes.forEach((outcome, index) => {
      const file = due[index] as FoundFile;
      const known = modelStore.byPath(file.path);
      if ('facts' in outcome) {
        const source = known?.source ?? (named.has(file.path) ? 'register' : 'scan');
        if (!siblingOnly.has(file.path) || known !== undefined) this.register(source, file, outcome.facts);
        return;
      }
      // Somebody else could read it in the meantime.
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
        'a file in a model folder is no usable model',
      );
    });
  }
}
