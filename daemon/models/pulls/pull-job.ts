import { rm } from 'node:fs/promises';
import { GatewayError } from '../../contract/errors.ts';
import type { PullRecord, PullStateName } from '../../contract/pulls.ts';
import type { PullFileRow, PullRow } from '../../store/pulls.ts';
import { splitParts } from '../split-files.ts';
import { permanentError } from './backoff.ts';
import { matchesExpected } from './digest.ts';
import { checkSpace, fileName, type MissingFile } from './disk-space.ts';
import { fetchFile } from './fetch-file.ts';
import type { JobDeps } from './job-deps.ts';
import { Meter } from './meter.ts';
import { pullRecord } from './pull-record.ts';
import { hasSize, type Staging, stagingOf } from './staging.ts';

/** Why a running job was stopped. */
type Intent = 'pause' | 'cancel' | 'stop';

const IDLE_MS = 60_000;
const ENDED: ReadonlySet<PullStateName> = new Set(['done', 'failed', 'cancelled']);

/** One download: its row, its files, and its current run. */
export class PullJob {
  readonly #deps: JobDeps<PullJob>;
  readonly #files: PullFileRow[];
  readonly #staging: Staging;
  readonly #bytes = new Map<string, number>();
  readonly #meter = new Meter();
  /** Files that are already installed. */
  readonly #installed = new Set<string>();
  #row: PullRow;
  #retries = 0;
  #retryReason: string | null = null;
  #run: { control: AbortController; ended: Promise<void> } | null = null;

  constructor(row: PullRow, files: readonly PullFileRow[], deps: JobDeps<PullJob>) {
    this.#row = row;
    this.#files = [...files];
    this.#deps = deps;
    this.#staging = stagingOf(deps.root, row.id, row.repo);
  }

  get row(): Readonly<PullRow> {
    return this.#row;
  }

  get open(): boolean {
    return !ENDED.has(this.#row.state);
  }

  get fileCount(): number {
    return this.#files.length;
  }

  /** Returns what a run still writes, or would write. */
  async missing(): Promise<MissingFile[]> {
    const { state, repo } = this.#row;
    if (state === 'done' || state === 'cancelled') return [];
    const there = (file: PullFileRow) => this.#bytes.get(file.path) ?? this.#staging.availableBytes(file);
    return Promise.all(
      this.#files.map(async (file) => ({
        name: fileName(repo, file),
        bytes: Math.max(0, file.size - (await there(file))),
      })),
    );
  }

  view(): PullRecord {
    const speed = this.#row.state === 'running' ? this.#meter.speed() : null;
    const retryReason = this.#retries > 0 ? this.#retryReason : null;
    return pullRecord(this.#row, { files: this.#files.length, speed, retries: this.#retries, retryReason });
  }

  /** Starts or resumes the job. Does nothing when it runs or is complete. */
  start(): void {
    if (this.#run !== null || this.#row.state === 'done' || this.#row.state === 'cancelled') return;
    const control = new AbortController();
    this.#become('queued', null);
    const run = { control, ended: Promise.resolve() };
    this.#run = run;
    const names = this.#files.map(({ path }) => `${this.#row.repo}/${path}`);
    run.ended = this.#deps.fileLock
      .run(names, () => this.#work(control.signal), control.signal)
      .catch((error: unknown) => this.#settle(control.signal.aborted, error))
      .finally(() => {
        this.#run = null;
      });
  }

  /** Stops a run. Keeps downloaded data unless the job is cancelled. Resolves when nothing runs any longer. */
  async stop(intent: Intent): Promise<void> {
    const run = this.#run;
    if (run !== null) {
      run.control.abort(new DOMException(`pull: ${intent}`, 'AbortError'));
      await run.ended;
    }
    if (intent === 'stop' || this.#row.state === 'done' || this.#row.state === 'cancelled') return;
    if (intent === 'pause') return this.#become('paused', null);
    await this.#staging.remove();
    this.#note(0);
    this.#become('cancelled', null);
  }

  async #work(signal: AbortSignal): Promise<void> {
    const paths = this.#files.map(({ path }) => path);
    await this.#staging.createFolders(paths);
    for (const file of this.#files) await this.#inspect(file, signal);
    this.#sum();
    await this.#fetchAll(this.#files, signal);
    const bad = await this.#verify(signal);
    if (bad.length > 0) {
      // Data of an earlier run may have been damaged on the disk, data of this run in transit.
      await this.#fetchAll(bad, signal);
      if ((await this.#verify(signal)).length > 0) throw new GatewayError('pull.checksum_mismatch');
    }
    await this.#finish(signal);
  }

  /**
   * Checks what exists of a file. A run may have been interrupted during installation, or another job may
   * have downloaded the same file.
   */
  async #inspect(file: PullFileRow, signal: AbortSignal): Promise<void> {
    this.#installed.delete(file.path);
    const { bytes, whole } = await this.#staging.progress(file.path);
    this.#bytes.set(file.path, bytes);
    if (
      whole ||
      !(await matchesExpected(this.#staging.finalPath(file.path), file, signal).catch(() => false))
    )
      return;
    this.#installed.add(file.path);
    this.#bytes.set(file.path, file.size);
    await rm(this.#staging.partPath(file.path), { force: true });
  }

  /**
   * Returns whether a file is complete. An installed file may be removed at any time together with its model.
   */
  async #isWhole({ path, size }: PullFileRow): Promise<boolean> {
    if (this.#installed.has(path)) {
      if (await hasSize(this.#staging.finalPath(path), size)) return true;
      this.#installed.delete(path);
    }
    return (await this.#staging.progress(path)).whole;
  }

  async #fetchAll(files: readonly PullFileRow[], signal: AbortSignal): Promise<void> {
    const first = new AbortController();
    const together = AbortSignal.any([signal, first.signal]);
    const outcomes = await Promise.allSettled(
      files.map((file) =>
        this.#deps.semaphore
          .run(together, () => this.#bring(file, together))
          .catch((error: unknown) => {
            if (!together.aborted) first.abort(error);
            throw error;
          }),
      ),
    );
    signal.throwIfAborted();
    first.signal.throwIfAborted();
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async #bring(file: PullFileRow, signal: AbortSignal): Promise<void> {
    if (await this.#isWhole(file)) return;
    if (this.#row.state !== 'running') this.#become('running', null);
    const { outbound, hub, rate, baseMs } = this.#deps;
    await fetchFile({
      outbound,
      endpoint: hub.endpoint(),
      repo: this.#row.repo,
      revision: this.#row.revision ?? '',
      path: file.path,
      size: file.size,
      part: this.#staging.partPath(file.path),
      rate,
      idleMs: IDLE_MS,
      baseMs,
      signal,
      etag: () => file.etag,
      tagged: (etag) => {
        if (etag === file.etag) return;
        file.etag = etag;
        this.#deps.tag(this.#row.id, file.path, etag);
      },
      reached: (bytes) => {
        this.#bytes.set(file.path, bytes);
        this.#sum();
        this.#deps.changed(this, 'bytes');
      },
      retrying: (failures, reason) => {
        this.#retries = failures;
        this.#retryReason = reason;
        this.#deps.changed(this, 'state');
      },
      checkSpace: async () =>
        checkSpace(await this.#deps.free(), file.size - (this.#bytes.get(file.path) ?? 0)),
    });
    this.#retries = 0;
  }

  /** Renames every correct file. Returns the others, which are deleted. */
  async #verify(signal: AbortSignal): Promise<PullFileRow[]> {
    this.#become('verifying', null);
    const bad: PullFileRow[] = [];
    for (const file of this.#files) {
      const wasPlaced = this.#installed.has(file.path);
      if (await this.#isWhole(file)) continue;
      if (!wasPlaced && (await matchesExpected(this.#staging.partPath(file.path), file, signal))) {
        await this.#staging.markVerified(file.path);
        continue;
      }
      await rm(this.#staging.partPath(file.path), { force: true });
      this.#deps.tag(this.#row.id, file.path, null);
      file.etag = null;
      this.#bytes.set(file.path, 0);
      bad.push(file);
    }
    this.#sum();
    return bad;
  }

  async #finish(signal: AbortSignal): Promise<void> {
    const { repo, revision, main, licence } = this.#row;
    const own = main === null ? this.#files.map(({ path }) => path) : splitParts(main);
    if (!own.some((path) => this.#installed.has(path))) await this.#validate(signal);
    await this.#staging.install(this.#files.map(({ path }) => path));
    const path = main === null ? this.#staging.target : this.#staging.finalPath(main);
    const [only] = this.#files;
    const sha256 = this.#files.length === 1 ? (only?.sha256 ?? null) : null;
    const model = await this.#deps.register({ path, repo, revision: revision ?? '', licence, sha256 });
    this.#row = { ...this.#row, model };
    await this.#staging.remove();
    this.#become('done', null);
  }

  /** Validates the download before it is installed. */
  async #validate(signal: AbortSignal): Promise<void> {
    const { main } = this.#row;
    const { findProblem } = this.#deps;
    const reason = await findProblem(main === null ? this.#staging.folder : this.#staging.verifiedPath(main));
    signal.throwIfAborted();
    if (reason === null) return;
    throw new GatewayError('pull.no_model', {
      message: `The downloaded file is not a usable model: ${reason}.`,
    });
  }

  #settle(aborted: boolean, error: unknown): void {
    // The caller of `stop` decides the next state.
    if (aborted) return;
    const known = permanentError({ error, failures: 0, mismatches: 0 });
    if (known === null) this.#deps.onUnexpectedError(error);
    this.#become('failed', known ?? new GatewayError('internal', { cause: error }));
  }

  #become(state: PullStateName, failure: GatewayError | null): void {
    const { now, save, changed } = this.#deps;
    const outcome =
      failure === null ? { code: null, error: null } : { code: failure.code, error: failure.message };
    this.#row = { ...this.#row, ...outcome, state, updated: now() };
    save(this.#row);
    changed(this, 'state');
  }

  #sum(): void {
    this.#note([...this.#bytes.values()].reduce((all, bytes) => all + bytes, 0));
  }

  #note(bytes: number): void {
    this.#row = { ...this.#row, bytes, updated: this.#deps.now() };
    this.#meter.update(bytes);
  }
}
