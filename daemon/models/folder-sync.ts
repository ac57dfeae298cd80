import { basename, dirname, join, sep } from 'node:path';
import type { MountGuard } from '../lib/fs/mount-guard.ts';
import type { Log } from '../lib/log.ts';
import { modelId, uniqueId } from './model-id.ts';
import { modelOfFile } from './model-of-file.ts';
import type { Shelf } from './model-store.ts';
import { projectorOf } from './projector-of.ts';
import { type ModelFacts, readFactsApart } from './read-facts-in-child.ts';
import type { ModelSource, RegisteredModel } from './registered-model.ts';
import { type FoundFile, lookForModel, SCAN_LIMITS, scanFolders } from './scan.ts';
import { type Beside, lookBeside } from './sibling-files.ts';

export interface ModelProblem {
  /** Base name of the file, or the folder that the operator named. */
  file: string;
  reason: string;
}

/** What one look has met. */
interface Look {
  /** All files that may be models or projectors. */
  readonly present: readonly FoundFile[];
  /** Paths of those of them that somebody has named, outside the model folders. */
  readonly named: ReadonlySet<string>;
  /** What lies beside those. */
  readonly beside: Beside;
  /** Folders that did not answer to the end: what was not met there may be there. */
  readonly silent: readonly string[];
  readonly refusedBefore: ReadonlyMap<string, Refusal>;
}

interface Refusal {
  file: FoundFile;
  reason: string;
  /** It is no model, and nothing is wrong with it. */
  projector: boolean;
  /** It could not be read, which may be over by the next look. */
  passing: boolean;
  /** How often in a row it was refused as it is. */
  tries: number;
}

/** A file at which the reader of headers was ended gets another chance; after that it is read when it has changed. */
const CHANCES = 2;

/** What is known of a model beside its files. */
export type Origin = Partial<Pick<RegisteredModel, 'repo' | 'revision' | 'sha256' | 'licence'>>;

export interface FolderSyncOptions {
  shelf: Shelf;
  log: Log;
  /** Folders of the moment. */
  folders(): readonly string[];
  /** A folder that may be missing without being a problem. */
  optional: string;
  /** Files that are registered in another way. */
  passOver(path: string): boolean;
  patience: MountGuard;
  signal: AbortSignal;
}

const isWithin = (folder: string, path: string) => path.startsWith(join(folder, sep));

const unchanged = (file: FoundFile, known: { sizeBytes: number; mtimeS: number } | undefined) =>
  known !== undefined && known.sizeBytes === file.sizeBytes && known.mtimeS === file.mtimeS;

/** Whether the same look at the same file would be refused again. */
const isRefusedStill = (file: FoundFile, refusal: Refusal | undefined): refusal is Refusal =>
  refusal !== undefined &&
  !refusal.passing &&
  unchanged(file, refusal.file) &&
  file.ctimeMs === refusal.file.ctimeMs;

/** Keeps the shelf equal to what lies in the model folders; a file's header is read only when the file has changed. */
export class FolderSync {
  readonly #options: FolderSyncOptions;
  #refused = new Map<string, Refusal>();
  #folderProblems: ModelProblem[] = [];

  constructor(options: FolderSyncOptions) {
    this.#options = options;
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
   * Puts a model on the shelf: under the id it has already, else under a free one made from its file name. Without an origin the
   * same file stays what it is: somebody who knows more of it may have put it there while its header was read.
   */
  admit(source: ModelSource, file: FoundFile, facts: ModelFacts, origin?: Origin): RegisteredModel {
    const { shelf } = this.#options;
    const known = shelf.byPath(file.path);
    if (origin === undefined && known !== undefined && unchanged(file, known)) return known;
    if (known === undefined) this.#forgetMissedAt(file.path);
    const id = known?.id ?? uniqueId(modelId(file.path), (taken) => this.#isTaken(taken, file));
    const model = modelOfFile(id, source, file, facts);
    return shelf.put({ ...model, ...origin, licence: origin?.licence ?? model.licence });
  }

  /** The id of an absent model stays with it, unless this is its file in another place. */
  #isTaken(id: string, file: FoundFile): boolean {
    const { shelf } = this.#options;
    if (shelf.get(id) !== undefined) return true;
    const absent = shelf.absent().find((model) => model.id === id);
    return absent !== undefined && absent.sizeBytes !== file.sizeBytes;
  }

  /** Puts a question about a path to its disk; rejects with DiskTimeout where that does not answer. */
  ask<T>(path: string, question: () => Promise<T>): Promise<T> {
    const { folders, patience } = this.#options;
    return patience.run(folders().find((folder) => isWithin(folder, path)) ?? dirname(path), question);
  }

  /** What lies at a path; `unknown` where the disk does not tell. */
  #lookAt(path: string): Promise<FoundFile | null | 'unknown'> {
    return this.ask(path, () => lookForModel(path)).catch(() => 'unknown' as const);
  }

  #missedAt(path: string): RegisteredModel | undefined {
    return this.#options.shelf.absent().find(({ files }) => files.includes(path));
  }

  /** Another model in its place ends the wait for one that is absent. */
  #forgetMissedAt(path: string): void {
    const missed = this.#missedAt(path);
    if (missed !== undefined) this.#options.shelf.remove(missed.id);
  }

  /** The model that was absent and whose file this is: it is on the shelf again, as it was. It is missed again for another file. */
  welcome(file: FoundFile): RegisteredModel | undefined {
    const { shelf } = this.#options;
    const missed = this.#missedAt(file.path);
    if (missed === undefined) return undefined;
    if (unchanged(file, missed)) return shelf.welcome(missed.id);
    shelf.miss(missed.id);
    return undefined;
  }

  /**
   * Takes models whose file is gone off the shelf, and puts back those that were named by a path and are there again. Answers what
   * lies in the places of those that were named.
   */
  async dropVanished(): Promise<FoundFile[]> {
    const { shelf } = this.#options;
    const named = shelf.absent().filter(({ source }) => source !== 'scan');
    // One without files is the matter of the program that keeps it.
    const filed = [...shelf.list(), ...named].filter(({ files }) => files.length > 0);
    const places: FoundFile[] = [];
    for (const model of filed) {
      const found = await this.#lookAt(model.path);
      if (found === 'unknown') continue;
      if (found === null) {
        this.#miss(model);
        continue;
      }
      this.welcome(found);
      if (model.source === 'register') places.push(found);
    }
    return places;
  }

  /** What the gateway makes or asks programs for is put back by whoever put it there. */
  #miss({ id, source }: RegisteredModel): void {
    const { shelf } = this.#options;
    if (source === 'demo' || source === 'program') shelf.remove(id);
    else shelf.miss(id);
  }

  /** Takes those off the shelf that a scan had found and that this one has not, but where it got no answer. */
  async #dropUnseen(seen: ReadonlySet<string>, silent: readonly string[]): Promise<void> {
    const { shelf, folders } = this.#options;
    const within = (path: string) => folders().some((folder) => isWithin(folder, path));
    const unseen = [...shelf.list(), ...shelf.absent()].filter(
      ({ source, path }) => source === 'scan' && !seen.has(path),
    );
    for (const { id, path } of unseen) {
      if (silent.some((folder) => isWithin(folder, path))) continue;
      const found = await this.#lookAt(path);
      if (found === 'unknown' && within(path)) continue;
      shelf.miss(id);
    }
  }

  async sync(): Promise<void> {
    const { shelf, log, folders, passOver, patience, signal } = this.#options;
    const { files, problems, silent } = await scanFolders(folders(), SCAN_LIMITS, patience);
    if (signal.aborted) return;
    this.#noteFolders(problems);
    const scanned = files.filter(({ path }) => !passOver(path));
    const look = await this.#withNamed(scanned, silent);
    this.#refused = new Map();
    const due: FoundFile[] = [];
    for (const file of look.present) {
      if (unchanged(file, this.welcome(file) ?? shelf.byPath(file.path))) continue;
      const refusal = look.refusedBefore.get(file.path);
      if (isRefusedStill(file, refusal)) this.#refused.set(file.path, refusal);
      else due.push(file);
    }
    await this.#readAll(due, look);
    this.#attachProjectors(look);
    log.debug(
      { models: shelf.list().length, read: due.length, refused: this.#refused.size },
      'model folders scanned',
    );
  }

  /** Adds what lies where somebody has named a model, and takes off the shelf what lies nowhere any more. */
  async #withNamed(scanned: readonly FoundFile[], silent: readonly string[]): Promise<Look> {
    const paths = new Set(scanned.map(({ path }) => path));
    await this.#dropUnseen(paths, silent);
    const named = (await this.dropVanished()).filter(({ path }) => !paths.has(path));
    const unanswered: string[] = [];
    const beside = await lookBeside(
      named.map(({ path }) => path),
      (path, question) =>
        this.ask(path, question).catch((error: unknown) => {
          unanswered.push(dirname(path));
          throw error;
        }),
    );
    const projectors = beside.projectors.filter(({ path }) => !paths.has(path));
    return {
      present: [...scanned, ...named, ...projectors],
      named: new Set(named.map(({ path }) => path)),
      beside: { ...beside, projectors },
      silent: [...silent, ...unanswered],
      refusedBefore: this.#refused,
    };
  }

  /** A projector that lies beside a model belongs to it. A model that was not met, or whose disk fell silent, keeps its own. */
  #attachProjectors({ present, beside, silent }: Look): void {
    const { shelf } = this.#options;
    const met = new Set(present.map(({ path }) => path));
    const found = [...this.#refused.values()].filter(({ projector }) => projector);
    const projectors = found.map(({ file }) => file.path);
    const chat = shelf.list().filter(({ type, format }) => type === 'llm' && format === 'gguf');
    const paths = [...chat.map(({ path }) => path), ...beside.models];
    const told = (path: string) => met.has(path) && !silent.some((folder) => isWithin(folder, path));
    for (const { id, path } of chat.filter((model) => told(model.path))) {
      const projectorPath = projectorOf(path, paths, projectors);
      const bytes = found.find(({ file }) => file.path === projectorPath)?.file.sizeBytes ?? null;
      shelf.change(id, { projectorPath, projectorBytes: bytes, projector: projectorPath !== null });
    }
  }

  #noteFolders(problems: readonly { folder: string; reason: string }[]): void {
    const { log, optional } = this.#options;
    const worth = problems.filter(({ folder, reason }) => !(folder === optional && reason === 'ENOENT'));
    const told = new Set(this.#folderProblems.map(({ file, reason }) => `${file}\n${reason}`));
    this.#folderProblems = worth.map(({ folder, reason }) => ({ file: folder, reason }));
    for (const { file, reason } of this.#folderProblems) {
      if (!told.has(`${file}\n${reason}`))
        log.warn({ folder: file, reason }, 'a model folder can not be scanned');
    }
  }

  async #readAll(due: readonly FoundFile[], { named, beside, refusedBefore }: Look): Promise<void> {
    const { shelf, log, signal } = this.#options;
    const onlyBeside = new Set(beside.projectors.map(({ path }) => path));
    const outcomes = await readFactsApart(
      due.map(({ path }) => path),
      signal,
    );
    if (signal.aborted) return;
    outcomes.forEach((outcome, index) => {
      const file = due[index] as FoundFile;
      const known = shelf.byPath(file.path);
      if ('facts' in outcome) {
        const source = known?.source ?? (named.has(file.path) ? 'register' : 'scan');
        if (!onlyBeside.has(file.path) || known !== undefined) this.admit(source, file, outcome.facts);
        return;
      }
      // Somebody else could read it in the meantime.
      if (unchanged(file, known)) return;
      if (known !== undefined) this.#miss(known);
      const { reason, projector = false, ended = false } = outcome;
      const earlier = refusedBefore.get(file.path);
      const tries = unchanged(file, earlier?.file) ? (earlier?.tries ?? 0) + 1 : 1;
      const passing = outcome.passing && !(ended && tries >= CHANCES);
      this.#refused.set(file.path, { file, reason, projector, passing, tries });
      if (projector || (reason === earlier?.reason && tries > 1)) return;
      log.warn(
        { file: basename(file.path), reason: outcome.reason },
        'a file in a model folder is no usable model',
      );
    });
  }
}
