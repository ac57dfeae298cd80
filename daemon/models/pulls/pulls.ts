import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { GatewayError } from '../../contract/errors.ts';
import type { GatewayEvents } from '../../contract/events.ts';
import type { PullBody, PullRecord } from '../../contract/pulls.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import { Semaphore } from '../../lib/async/semaphore.ts';
import type { Log } from '../../lib/log.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { Settings } from '../../settings/settings.ts';
import type { PullFileRow, PullRow } from '../../store/pulls.ts';
import type { Store } from '../../store/store.ts';
import type { Hub, HubRepo } from '../hub/hub.ts';
import { gatedError } from '../hub/hub-errors.ts';
import { type MetadataReader, readMetadataInChild } from '../read-metadata-in-child.ts';
import type { RegisteredModel } from '../registered-model.ts';
import { type Choice, chooseFiles } from './choose-files.ts';
import { bytesOf, checkSpace, fileName, freeBytesForModels, type MissingFile } from './disk-space.ts';
import { FileLock } from './file-lock.ts';
import type { JobDeps, PulledModel } from './job-deps.ts';
import type { NamedEntry } from './ollama-tag.ts';
import { Progress } from './progress.ts';
import { PullJob } from './pull-job.ts';
import { type ModelName, parseModel } from './pull-name.ts';
import { Rate } from './rate.ts';
import { hasSize, sweepStaging } from './staging.ts';

/** The downloads of this gateway (docs/spec/contract.md#pulls). An unknown id is 404 `pull.unknown`. */
export interface Pulls {
  /** Returns the newest first. */
  list(): PullRecord[];
  /**
   * Creates a job, or returns the one that already downloads the same; a failed one is resumed. Throws
   * `pull.*`, and `model.exists` with `details.model` for an already pulled model.
   */
  create(body: PullBody, signal: AbortSignal): Promise<PullRecord>;
  pause(id: string): Promise<PullRecord>;
  resume(id: string): Promise<PullRecord>;
  /** Ends a job and removes its downloaded files. */
  cancel(id: string): Promise<PullRecord>;
  /** Stops running jobs. They resume at the next start. */
  close(): Promise<void>;
}

export interface PullsDeps {
  readonly store: Pick<Store, 'pulls' | 'isContentLost'>;
  readonly settings: Pick<Settings, 'value' | 'folders'>;
  readonly log: Log;
  readonly bus: EventBus<GatewayEvents>;
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly hub: Hub;
  readonly registry: {
    list(): readonly RegisteredModel[];
    registerPulled(model: PulledModel): Promise<RegisteredModel>;
  };
  /** Returns why no engine here can load what was chosen. Null, the default, when one can or it is unknown. */
  readonly objection?: (found: HubRepo, choice: Choice, signal: AbortSignal) => Promise<string | null>;
  /** Returns the entries of the catalogue, by which tags of Ollama are found. Default: none. */
  readonly catalog?: () => readonly NamedEntry[];
  /** Called with the exact sizes of a model that will be downloaded. */
  readonly onResolved?: (model: string, facts: { sizeBytes: number; licence: string | null }) => void;
  /** First delay after a failure in milliseconds. Default: one second. */
  readonly baseMs?: number;
  /** Returns the free bytes for the models of a state folder. Default: from the system. */
  readonly free?: (state: string) => Promise<number>;
  /** Reads the headers of models. Default: in a child process. */
  readonly readMetadata?: MetadataReader;
}

/** Maximum concurrent file transfers over all jobs. */
const MAX_PARALLEL_FILES = 2;
const MAX_OPEN = 64;
const BASE_MS = 1_000;

class AllPulls implements Pulls {
  readonly #options: PullsDeps;
  readonly #root: string;
  readonly #jobs = new Map<string, PullJob>();
  readonly #jobDeps: JobDeps<PullJob>;
  readonly #progress: Progress;
  readonly #free: () => Promise<number>;
  readonly #closing = new AbortController();

  constructor(deps: PullsDeps) {
    const { store, settings, bus } = deps;
    this.#options = deps;
    this.#root = join(settings.folders.state, 'models');
    this.#free = () => (deps.free ?? freeBytesForModels)(settings.folders.state);
    this.#progress = new Progress({
      emit: (job) => bus.emit('pull', { pull: job.view() }),
      persist: ({ row }) => store.pulls.progress(row.id, row.bytes, row.updated),
    });
    this.#jobDeps = this.#createJobDeps();
    this.#resume();
  }

  list(): PullRecord[] {
    return [...this.#jobs.values()].map((job) => job.view()).sort((a, b) => b.created - a.created);
  }

  async create(body: PullBody, signal: AbortSignal): Promise<PullRecord> {
    const { repo, selector, revision } = this.#parse(body.model);
    if ([...this.#jobs.values()].filter(({ open }) => open).length >= MAX_OPEN)
      throw new GatewayError('pull.too_many', { noRetry: true });
    const { hub } = this.#options;
    const found = await hub.repo(
      repo,
      body.revision ?? revision ?? 'HEAD',
      AbortSignal.any([signal, this.#closing.signal]),
    );
    if (found.gated && hub.endpoint().token === null) throw gatedError();
    const choice = chooseFiles(repo, found.files, selector, body.projector);
    const same = this.#sameAs(repo, found.revision, choice);
    if (same !== undefined) return this.resume(same.row.id);
    await this.#refusePresent(repo, found.revision, choice);
    if (!body.allow_unsupported) await this.#refuseUnsupported(found, choice, signal);
    const total = choice.files.reduce((all, { size }) => all + size, 0);
    await this.#checkSpace(await this.#missing(repo, choice));
    this.#options.onResolved?.(selector === null ? repo : `${repo}:${selector}`, {
      sizeBytes: total,
      licence: found.licence,
    });
    const again = this.#sameAs(repo, found.revision, choice);
    if (again !== undefined) return again.view();
    return this.#add(repo, found, choice, total);
  }

  async pause(id: string): Promise<PullRecord> {
    const job = this.#need(id);
    if (!job.open) throw new GatewayError('pull.state', { details: { state: job.row.state } });
    await job.stop('pause');
    return job.view();
  }

  async resume(id: string): Promise<PullRecord> {
    const job = this.#need(id);
    const { state } = job.row;
    if (state === 'done' || state === 'cancelled')
      throw new GatewayError('pull.state', { details: { state } });
    if (state !== 'paused' && state !== 'failed') return job.view();
    await this.#checkSpace(await job.missing());
    job.start();
    return job.view();
  }

  async cancel(id: string): Promise<PullRecord> {
    const job = this.#need(id);
    if (job.row.state === 'done') throw new GatewayError('pull.state', { details: { state: 'done' } });
    await job.stop('cancel');
    return job.view();
  }

  async close(): Promise<void> {
    this.#closing.abort(new DOMException('the gateway stops', 'AbortError'));
    await Promise.all([...this.#jobs.values()].map((job) => job.stop('stop')));
    this.#progress.close();
  }

  #parse(model: string): ModelName {
    const { hub, catalog = () => [] } = this.#options;
    return parseModel(model, { hubUrl: hub.endpoint().url, entries: catalog() });
  }

  #need(id: string): PullJob {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new GatewayError('pull.unknown');
    return job;
  }

  #sameAs(repo: string, revision: string, { label, files }: Choice): PullJob | undefined {
    return [...this.#jobs.values()].find(({ row, open, fileCount }) => {
      const fetches = open || row.state === 'failed';
      return (
        fetches &&
        row.repo === repo &&
        row.revision === revision &&
        row.file === label &&
        fileCount === files.length
      );
    });
  }

  async #refusePresent(repo: string, revision: string, { main, files }: Choice): Promise<void> {
    const path = this.#targetFolder(repo, main);
    const model = this.#options.registry.list().find((one) => one.path === path && one.revision === revision);
    if (model === undefined) return;
    const sizes = await Promise.all(
      files.map(({ path: file, size }) => hasSize(this.#targetFolder(repo, file), size)),
    );
    if (sizes.every(Boolean)) throw new GatewayError('model.exists', { details: { model: model.id } });
  }

  async #refuseUnsupported(found: HubRepo, choice: Choice, signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, this.#closing.signal]);
    const reason = (await this.#options.objection?.(found, choice, limit)) ?? null;
    if (reason !== null) throw new GatewayError('pull.unsupported', { message: reason });
  }

  /** Returns the target of a repository's file. Null: the folder of its model. */
  #targetFolder(repo: string, path: string | null): string {
    return join(this.#root, ...repo.split('/'), ...(path?.split('/') ?? []));
  }

  /** Returns the files of a choice that are not installed. */
  async #missing(repo: string, { files }: Choice): Promise<MissingFile[]> {
    const there = await Promise.all(
      files.map(({ path, size }) => hasSize(this.#targetFolder(repo, path), size)),
    );
    return files
      .filter((_, index) => !there[index])
      .map((file) => ({ name: fileName(repo, file), bytes: file.size }));
  }

  /** Treats data that other jobs will write as written. */
  async #checkSpace(needed: readonly MissingFile[]): Promise<void> {
    const others = [...this.#jobs.values()].filter(({ row, open }) => open && row.state !== 'paused');
    const promised = await Promise.all(others.map((job) => job.missing()));
    checkSpace(await this.#free(), bytesOf([...needed, ...promised.flat()]));
  }

  #add(
    repo: string,
    found: { revision: string; licence: string | null },
    choice: Choice,
    total: number,
  ): PullRecord {
    const now = Date.now();
    const row: PullRow = {
      id: randomBytes(8).toString('hex'),
      repo,
      file: choice.label,
      state: 'queued',
      bytes: 0,
      total,
      etag: null,
      sha256: choice.files.length === 1 ? (choice.files[0]?.sha256 ?? null) : null,
      revision: found.revision,
      main: choice.main,
      code: null,
      error: null,
      model: null,
      licence: found.licence,
      created: now,
      updated: now,
    };
    const files: PullFileRow[] = choice.files.map((file) => ({ ...file, etag: null }));
    this.#options.store.pulls.add(row, files);
    this.#options.log.info({ pull: row.id, repo, file: row.file, bytes: total }, 'model download started');
    const job = this.#keep(row, files);
    job.start();
    return job.view();
  }

  #keep(row: PullRow, files: readonly PullFileRow[]): PullJob {
    const job = new PullJob(row, files, this.#jobDeps);
    this.#jobs.set(row.id, job);
    const ended = [...this.#jobs.values()].filter(({ open }) => !open);
    for (const oldest of ended.slice(0, Math.max(0, ended.length - MAX_ENDED)))
      this.#jobs.delete(oldest.row.id);
    return job;
  }

  /** Restores jobs of earlier runs: resumes running ones, keeps paused ones paused. */
  #resume(): void {
    const { store, log } = this.#options;
    try {
      for (const row of store.pulls.all().reverse()) this.#keep(row, store.pulls.files(row.id));
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'downloads of earlier runs could not be read');
      return;
    }
    const rests = [...this.#jobs.values()].filter(
      ({ row }) => row.state !== 'done' && row.state !== 'cancelled',
    );
    const known = new Set(rests.map(({ row }) => row.id));
    // A backup may restore what a lost database contained, and the downloads may have taken days.
    if (store.isContentLost)
      log.warn('the list of downloads was lost; downloaded parts are kept for this run');
    else
      void sweepStaging(this.#root, known).catch((error: Error) =>
        log.warn({ reason: error.message }, 'partial downloads could not be removed'),
      );
    for (const job of rests) if (job.open && job.row.state !== 'paused') job.start();
  }

  #createJobDeps(): JobDeps<PullJob> {
    const { store, settings, log, outbound, hub, registry, baseMs = BASE_MS } = this.#options;
    const { readMetadata = readMetadataInChild } = this.#options;
    const quietly = (work: () => void) => {
      try {
        work();
      } catch (error) {
        log.warn({ reason: (error as Error).message }, 'downloads: the database could not be used');
      }
    };
    return {
      outbound,
      hub,
      root: this.#root,
      rate: new Rate(() => settings.value('pullRate')),
      semaphore: new Semaphore({ permits: MAX_PARALLEL_FILES }),
      fileLock: new FileLock(),
      baseMs,
      free: this.#free,
      findProblem: async (path) => {
        const [outcome] = await readMetadata([path], this.#closing.signal);
        return outcome !== undefined && 'reason' in outcome ? outcome.reason : null;
      },
      register: async (model) => (await registry.registerPulled(model)).id,
      onUnexpectedError: (error) => log.error({ err: error }, 'a download failed unexpectedly'),
      save: (row) => quietly(() => store.pulls.save(row)),
      tag: (id, path, etag) => quietly(() => store.pulls.tag(id, path, etag)),
      changed: (job, what) => this.#progress.changed(job, what),
      now: Date.now,
    };
  }
}

/** Maximum ended jobs that are listed. */
const MAX_ENDED = 200;

/** Creates the downloads service and resumes jobs of an earlier run. */
export function createPulls(deps: PullsDeps): Pulls {
  return new AllPulls(deps);
}
